// The promises of optimisers whose vectors are on a GPU, on one. Every case is skipped, with the reason, where there is
// none.
#include "gossamer/base/cuda/vec.hpp"
#include "gossamer/compute/cuda/updates.hpp"

#include "cuda/optimiser_cases.hpp"
#include "support/gpu_test.hpp"

namespace gossamer::test {
namespace {

vec_device one_queue() {
  return {[s = cuda::stream{0}](const vec& v) { return cuda::on_gpu(s, v); }, compute::cuda::updates_on_gpus()};
}
vec_device a_queue_for_each_vec() {
  return {[](const vec& v) { return cuda::on_gpu(cuda::stream{0}, v); }, compute::cuda::updates_on_gpus()};
}

class gpu_optimiser : public gpu_test<optimiser_case> {};

TEST_P(gpu_optimiser, steps_as_the_host_does) {
  expect_steps_of_the_host(GetParam(), one_queue());
  expect_steps_of_the_host(GetParam(), a_queue_for_each_vec());
}

TEST_P(gpu_optimiser, has_the_directions_of_the_host) {
  expect_directions_of_the_host(GetParam(), one_queue());
  expect_directions_of_the_host(GetParam(), a_queue_for_each_vec());
}

TEST_P(gpu_optimiser, takes_vectors_wherever_they_are) { expect_vectors_may_be_anywhere(GetParam(), one_queue()); }

TEST_P(gpu_optimiser, takes_a_restored_state_to_the_device) {
  expect_restored_state_to_go_there(GetParam(), one_queue());
}

TEST_P(gpu_optimiser, leaves_alone_what_is_shared) { expect_what_is_shared_to_stay(GetParam(), one_queue()); }

INSTANTIATE_TEST_SUITE_P(optimisers, gpu_optimiser, optimiser_cases());

} // namespace
} // namespace gossamer::test
