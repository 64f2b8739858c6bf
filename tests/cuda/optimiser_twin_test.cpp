// Optimisers whose vectors are on a device: a queue that runs every thread of every kernel on the processor.
#include "gossamer/compute/cuda/detail/updates_on.hpp"
#include "gossamer/compute/cuda/updates.hpp"

#include "cuda/optimiser_cases.hpp"
#include "support/host_queue.hpp"

namespace gossamer::test {
namespace {

/// Counts operations that would cost time on a GPU.
class counting_queue : public host_queue {
public:
  counting_queue() : host_queue(cuda::launch_policy{64}, 3, 7) {}

  template <class T>
  void upload(T* to, std::span<const T> from) const {
    ++copies;
    host_queue::upload(to, from);
  }
  template <class T>
  void download(std::span<T> to, const T* from) const {
    ++copies;
    host_queue::download(to, from);
  }
  template <class Kernel>
  void launch(std::uint64_t pieces, const Kernel& kernel) const {
    ++launches;
    host_queue::launch(pieces, kernel);
  }

  mutable int copies = 0, launches = 0;
};

using elements = cuda::queue_vec<counting_queue>;

vec on(const std::shared_ptr<counting_queue>& queue, const vec& v) { return vec{elements::in(queue, v)}; }

const compute::cuda::updates_on<counting_queue> updates;

vec_device one_queue() {
  return {[queue = std::make_shared<counting_queue>()](const vec& v) { return on(queue, v); }, updates};
}
vec_device a_queue_for_each_vec() {
  return {[](const vec& v) { return on(std::make_shared<counting_queue>(), v); }, updates};
}

class optimiser_twin : public testing::TestWithParam<optimiser_case> {};

TEST_P(optimiser_twin, steps_as_the_host_does) {
  expect_steps_of_the_host(GetParam(), one_queue());
  expect_steps_of_the_host(GetParam(), a_queue_for_each_vec());
}

TEST_P(optimiser_twin, has_the_directions_of_the_host) {
  expect_directions_of_the_host(GetParam(), one_queue());
  expect_directions_of_the_host(GetParam(), a_queue_for_each_vec());
}

TEST_P(optimiser_twin, takes_vectors_wherever_they_are) {
  expect_vectors_may_be_anywhere(GetParam(), one_queue());
  expect_vectors_may_be_anywhere(GetParam(), a_queue_for_each_vec());
}

TEST_P(optimiser_twin, takes_a_restored_state_to_the_device) {
  expect_restored_state_to_go_there(GetParam(), one_queue());
}

TEST_P(optimiser_twin, leaves_alone_what_is_shared) { expect_what_is_shared_to_stay(GetParam(), one_queue()); }

TEST_P(optimiser_twin, copies_nothing_and_passes_once_over_the_memory) {
  const auto queue = std::make_shared<counting_queue>();
  optimiser_pair pair{GetParam(), {[&](const vec& v) { return on(queue, v); }, updates}};
  if (pair.size == 0)
    return;
  vec x = on(queue, pair.numbers(1));
  const vec g = on(queue, pair.numbers(2));
  queue->copies = queue->launches = 0;
  for (int t = 0; t < 3; ++t)
    pair.twin->step(x, g, 0.1f);
  EXPECT_EQ(queue->launches, 3);
  const vec u = pair.twin->direction(x, g);
  EXPECT_EQ(queue->copies, 0);
}

TEST_P(optimiser_twin, stays_on_the_gpu_of_x) {
  const auto queue = std::make_shared<counting_queue>(), other = std::make_shared<counting_queue>();
  other->use_memory(1);
  optimiser_pair pair{GetParam(), {[&](const vec& v) { return on(queue, v); }, updates}};
  vec expected = pair.numbers(100), x = on(queue, expected);
  for (int t = 0; t < 2; ++t) {
    pair.step(expected, x, on(other, pair.numbers(t)), t);
    EXPECT_EQ(elements::queue_of(x), queue);
  }
  x = on(other, x);
  pair.step(expected, x, pair.numbers(2), 2);
  EXPECT_EQ(elements::queue_of(x), other) << "and the state follows it";
}

INSTANTIATE_TEST_SUITE_P(optimisers, optimiser_twin, optimiser_cases());

TEST(optimiser_on_gpus, computes_on_the_host_what_is_there) {
  const vec_device none{[](const vec& v) { return v; }, compute::cuda::updates_on_gpus()};
  optimiser_pair pair{{"adam", 33}, none};
  vec expected = pair.numbers(100), x = expected;
  for (int t = 0; t < 3; ++t)
    pair.step(expected, x, pair.numbers(t), t);
  EXPECT_FALSE(is_on_device(x));
}

} // namespace
} // namespace gossamer::test
