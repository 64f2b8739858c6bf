// Models on GPUs, whose kernels run thread by thread on the processor, with cuBLAS products written by its
// documentation. Losses and gradients equal those of the processor's own models.
#include "gossamer/compute/cuda/detail/device_network.hpp"
#include "gossamer/compute/cuda/models.hpp"

#include "cuda/model_twin.hpp"
#include "support/host_engine.hpp"
#include "support/torch_cases.hpp"
#include "support/usage_error.hpp"

namespace gossamer::test {
namespace {

using twin = compute::cuda::device_network<host_engine>;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t usual_workspace = 1 << 24, little_workspace = 1; // the latter: 16 samples at a time

/// @param threads threads of a block
twin_maker twins(std::size_t workspace = usual_workspace, unsigned threads = 64, std::uint64_t order_seed = 1) {
  static twin::data_sets sets; // shared by all tests, whose datasets come to lie at the same addresses
  return [=](const compute::model& m) {
    const host_engine engine{{.threads = threads}, 6, order_seed};
    return std::make_unique<twin>(dynamic_cast<const compute::detail::neural_network&>(m), engine, sets, workspace);
  };
}

class model_twin : public testing::TestWithParam<model_case> {};

TEST_P(model_twin, has_the_gradients_of_the_processor) { expect_gradients_of_the_processor(GetParam(), twins()); }

TEST_P(model_twin, has_the_gradients_of_the_processor_chunk_by_chunk) {
  expect_gradients_of_the_processor(GetParam(), twins(little_workspace));
}

TEST_P(model_twin, evaluates_as_the_processor_does) {
  expect_evaluations_of_the_processor(GetParam(), twins());
  expect_evaluations_of_the_processor(GetParam(), twins(little_workspace));
}

TEST_P(model_twin, has_the_form_of_the_processor) { expect_the_form_of_the_processor(GetParam(), twins()); }
TEST_P(model_twin, passes_nan_on) { expect_nan_passes(GetParam(), twins()); }
TEST_P(model_twin, leaves_gradients_there) { expect_gradients_to_stay_on_the_device(GetParam(), twins()); }
TEST_P(model_twin, shares_nothing_with_a_clone_that_can_be_seen) { expect_clones_to_be_apart(GetParam(), twins()); }

TEST_P(model_twin, has_the_same_bits_in_whatever_order_threads_run) {
  const auto indices = some_indices(70);
  model_pair first{GetParam(), twins(usual_workspace, 64, 1)};
  const auto dense = step(*first.twin, first.x, first.dense, indices);
  const auto sparse = step(*first.twin, first.x, first.sparse, indices);
  for (std::uint64_t order = 2; order < 5; ++order) {
    model_pair again{GetParam(), twins(usual_workspace, 64, order)};
    EXPECT_EQ(step(*again.twin, first.x, first.dense, indices), dense);
    EXPECT_EQ(step(*again.twin, first.x, first.sparse, indices), sparse);
  }
}

TEST_P(model_twin, has_the_same_bits_of_bytes_as_of_floats) {
  const auto indices = some_indices(70);
  const std::vector<compute::byte_scale> halves{{.divisor = 255, .mean = 0.5f, .deviation = 0.3f}, {.divisor = 100}};
  model_pair pair{GetParam(), twins()};
  const bool even = GetParam().features % 2 == 0;
  const auto bytes = support::with_bytes(pair.dense, even ? halves : std::vector{halves.front()});
  EXPECT_EQ(step(*pair.twin, pair.x, bytes, indices), step(*pair.twin, pair.x, support::as_floats(bytes), indices));
}

TEST_P(model_twin, may_have_blocks_of_any_size) {
  const auto indices = some_indices(33);
  for (const unsigned threads : {32u, cuda::launch_policy::most_threads}) {
    model_pair pair{GetParam(), twins(usual_workspace, threads)};
    for (const auto* data : {&pair.dense, &pair.sparse})
      expect_close(step(*pair.twin, pair.x, *data, indices), step(*pair.host, pair.x, *data, indices));
  }
}

TEST_P(model_twin, learns_its_biases_from_samples_without_entries) {
  model_pair pair{GetParam(), twins()};
  pair.sparse.row_start.assign(pair.sparse.samples + 1, 0);
  const auto indices = some_indices(20);
  expect_close(step(*pair.twin, pair.x, pair.sparse, indices), step(*pair.host, pair.x, pair.sparse, indices));
}

INSTANTIATE_TEST_SUITE_P(model, model_twin, testing::ValuesIn(model_cases()), case_as_name);

TEST(resident_sets, copy_a_dataset_once_as_long_as_anybody_has_it) {
  host_engine engine{{}, 1, 1}, other{{}, 1, 2};
  auto data = support::small_data(4, 3, 2);
  const auto same = data, sparse = support::as_sparse(data);
  twin::data_sets sets;
  auto copy = sets.of(engine, data);
  EXPECT_EQ(compute::large_vector<float>(copy->dense.data(), copy->dense.data() + 12), data.dense);
  EXPECT_EQ(sets.of(other, data), copy);
  EXPECT_NE(sets.of(engine, same), copy);
  const auto rows = sets.of(engine, sparse);
  EXPECT_EQ(std::vector<std::uint64_t>(rows->row_start.data(), rows->row_start.data() + 5), sparse.row_start);
  EXPECT_EQ(sets.of(engine, data), copy);

  copy.reset();
  data.targets.assign(4, 7.0f); // another dataset at the same address
  copy = sets.of(engine, data);
  EXPECT_EQ(compute::large_vector<float>(copy->targets.data(), copy->targets.data() + 4), data.targets);
}

TEST(column_lists, have_the_entries_of_a_batch_in_its_order) {
  compute::dataset data;
  data.samples = 3;
  data.features = 6;
  data.row_start = {0, 2, 2, 4};
  data.columns = {1, 4, 4, 5};
  data.values = {1, 2, 3, 4};
  compute::cuda::column_lists lists{6};
  for (int round = 0; round < 2; ++round) {
    lists.list({data, std::vector<std::uint32_t>{2, 1, 0, 2}});
    EXPECT_THAT(lists.columns, ElementsAre(4, 5, 1));
    EXPECT_THAT(lists.begins, ElementsAre(0, 3, 5, 6));
    EXPECT_THAT(lists.rows, ElementsAre(0, 2, 3, 0, 3, 2));
    EXPECT_THAT(lists.values, ElementsAre(3, 2, 3, 4, 4, 1));
  }
  lists.list({data, std::vector<std::uint32_t>{1}});
  EXPECT_THAT(lists.columns, testing::IsEmpty());
  EXPECT_THAT(lists.begins, ElementsAre(0));
}

TEST(on_device, takes_the_processor_too) {
  const auto data = support::small_data(4, 3, 2);
  const auto m = compute::make_model("softmax", data);
  const auto clone = compute::cuda::on_device(*m, "softmax", {});
  const std::vector<float> x(m->dimension(), 0.5f);
  EXPECT_EQ(step(*clone, x, data, some_indices(1)), step(*m, x, data, some_indices(1)));
}

TEST(on_device, has_every_model_but_one_or_says_which) {
  const auto no_gpu = cuda::why_no_gpu();
  for (const auto& entry : compute::models()) {
    const std::string name{entry.about.name};
    if (support::is_torch_model(name))
      continue;
    const auto data = support::small_data(4, 3, name == "linear" ? 0 : 2);
    const auto m = compute::make_model(name, data);
    const auto place = [&] { compute::cuda::on_device(*m, name, cuda::device{0}); };
    if (name == "quadratic")
      EXPECT_EQ(usage_error(place), "model 'quadratic' cannot be computed on a GPU; use cpu, or one of linear, "
                                    "logistic, softmax and mlp");
    else if (no_gpu.empty())
      EXPECT_NO_THROW(place()) << name;
    else
      EXPECT_THAT(usage_error(place), HasSubstr(no_gpu));
  }
}

} // namespace
} // namespace gossamer::test
