// vec's arithmetic on a device that runs every thread of every kernel on the processor, at once or late.
#include "gossamer/base/cuda/detail/queue_vec.hpp"

#include "cuda/vec_cases.hpp"
#include "support/host_engine.hpp"

namespace gossamer::test {
namespace {

using elements = cuda::queue_vec<host_queue>;

std::function<vec(const vec&)> to(std::shared_ptr<host_queue> queue) {
  return [queue = std::move(queue)](const vec& v) { return vec{elements::in(queue, v)}; };
}

vec_places places(bool late) {
  host_engine engine{cuda::launch_policy{64}, 3, 7};
  if (late)
    engine.work_late(late_device::make(1));
  return {to(engine.beside()), to(engine.beside())};
}

class device_vec_of_size : public testing::TestWithParam<std::size_t> {
protected:
  vec_places at_once_ = places(false), late_ = places(true);
};

TEST_P(device_vec_of_size, computes_as_the_host_does) {
  expect_arithmetic_of_the_host(GetParam(), at_once_);
  expect_arithmetic_of_the_host(GetParam(), late_);
}

TEST_P(device_vec_of_size, is_brought_to_the_host_by_who_reads_and_stays_there_for_who_writes) {
  expect_readers_and_writers_on_the_host(GetParam(), at_once_);
  expect_readers_and_writers_on_the_host(GetParam(), late_);
}

TEST_P(device_vec_of_size, has_zeros_and_copies) {
  expect_zeros_and_copies(GetParam(), at_once_);
  expect_zeros_and_copies(GetParam(), late_);
}

TEST_P(device_vec_of_size, stays_on_the_gpu_of_its_left_operand) {
  const auto one = std::make_shared<host_queue>(cuda::launch_policy{64}, 3, 7);
  const auto other = std::make_shared<host_queue>(*one);
  other->use_memory(1);
  const vec x = numbers(GetParam(), 5), g = numbers(GetParam(), 6);
  vec y = to(one)(x);
  y += to(other)(g);
  EXPECT_TRUE(elements::of(y)->queue().same_memory(*one));
  EXPECT_EQ(y, x + g);
}

INSTANTIATE_TEST_SUITE_P(sizes, device_vec_of_size, vec_sizes);

} // namespace
} // namespace gossamer::test
