// vec's arithmetic on a GPU. Every case is skipped, with the reason, where there is none.
#include "gossamer/base/cuda/vec.hpp"

#include "cuda/vec_cases.hpp"
#include "support/gpu_test.hpp"

namespace gossamer::test {
namespace {

std::function<vec(const vec&)> to(const cuda::stream& s) {
  return [s](const vec& v) { return cuda::on_gpu(s, v); };
}

vec_places places() { return {to(cuda::stream{0}), to(cuda::stream{0})}; }

class gpu_vec_of_size : public gpu_test<std::size_t> {};

TEST_P(gpu_vec_of_size, computes_as_the_host_does) { expect_arithmetic_of_the_host(GetParam(), places()); }

TEST_P(gpu_vec_of_size, is_brought_to_the_host_by_who_reads_and_stays_there_for_who_writes) {
  expect_readers_and_writers_on_the_host(GetParam(), places());
}

TEST_P(gpu_vec_of_size, has_zeros_and_copies) { expect_zeros_and_copies(GetParam(), places()); }

INSTANTIATE_TEST_SUITE_P(sizes, gpu_vec_of_size, vec_sizes);

} // namespace
} // namespace gossamer::test
