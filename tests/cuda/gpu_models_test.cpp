// The promises of models on GPUs, on a GPU. Every case is skipped, with the reason, where there is none.
#include "gossamer/compute/cuda/models.hpp"

#include <thread>

#include "cuda/model_twin.hpp"
#include "support/gpu_test.hpp"

namespace gossamer::test {
namespace {

std::unique_ptr<compute::model> on_gpu(const compute::model& m) {
  return compute::cuda::on_device(m, "of the test", cuda::device{0});
}

class gpu_model : public gpu_test<model_case> {};

TEST_P(gpu_model, has_the_gradients_of_the_processor) { expect_gradients_of_the_processor(GetParam(), on_gpu); }
TEST_P(gpu_model, evaluates_as_the_processor_does) { expect_evaluations_of_the_processor(GetParam(), on_gpu); }
TEST_P(gpu_model, has_the_form_of_the_processor) { expect_the_form_of_the_processor(GetParam(), on_gpu); }
TEST_P(gpu_model, passes_nan_on) { expect_nan_passes(GetParam(), on_gpu); }
TEST_P(gpu_model, leaves_gradients_there) { expect_gradients_to_stay_on_the_device(GetParam(), on_gpu); }
TEST_P(gpu_model, shares_nothing_with_a_clone_that_can_be_seen) { expect_clones_to_be_apart(GetParam(), on_gpu); }

TEST_P(gpu_model, has_the_same_bits_while_others_compute) {
  model_pair pair{GetParam(), on_gpu};
  const auto indices = some_indices(257);
  const auto dense = step(*pair.twin, pair.x, pair.dense, indices);
  const auto sparse = step(*pair.twin, pair.x, pair.sparse, indices);
  std::vector<std::unique_ptr<compute::model>> clones;
  for (int i = 0; i < 4; ++i)
    clones.push_back(i % 2 == 0 ? pair.twin->clone() : on_gpu(*pair.host));
  std::vector<int> different(clones.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clones.size(); ++i)
      threads.emplace_back([&, i] {
        for (int round = 0; round < 50; ++round)
          different[i] += step(*clones[i], pair.x, pair.dense, indices) != dense
                          || step(*clones[i], pair.x, pair.sparse, indices) != sparse;
      });
  }
  EXPECT_THAT(different, testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(model, gpu_model, testing::ValuesIn(model_cases()), case_as_name);

} // namespace
} // namespace gossamer::test
