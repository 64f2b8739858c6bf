// Translation of CUDA runtime codes to errors that users can act on. Needs the toolkit, but no GPU.
#include "gossamer/base/cuda/detail/check.hpp"

#include <gmock/gmock.h>

namespace gossamer::cuda::detail {
namespace {

using testing::HasSubstr;

TEST(cuda_error, of_a_missing_driver_or_gpu_is_a_wrong_request) {
  const auto missing = no_usable_driver(0, 13000), old = no_usable_driver(12020, 13000);
  EXPECT_EQ(missing.code(), errc::usage);
  EXPECT_STREQ(missing.what(), "no NVIDIA driver is installed; use cpu, or a machine with an NVIDIA GPU");
  EXPECT_EQ(old.sentence(), "the NVIDIA driver is too old: it knows CUDA 12.2, this program was built with CUDA 13.0");
  EXPECT_THAT(old.remedy(), HasSubstr("update the driver"));
  EXPECT_EQ(translated(cudaErrorNoDevice, "counting GPUs").code(), errc::usage);
}

TEST(cuda_error, of_memory_says_how_much_was_asked_for_and_is_free) {
  const auto e = out_of_memory(8'000'000'000, 1'500'000'000, 80'000'000'000, 1);
  EXPECT_EQ(e.code(), errc::failed);
  EXPECT_EQ(e.sentence(),
            "out of memory on cuda:1: 8000000000 bytes (8.000 GB) were asked for, 1.500 of 80.000 GB are free");
}

TEST(cuda_error, of_work_names_the_kernels) {
  const auto one = failed_work(cudaErrorIllegalAddress, 0, {"merge_signs"});
  EXPECT_EQ(one.sentence(), "kernel 'merge_signs' failed on cuda:0: an illegal memory access was encountered");
  const auto several = failed_work(cudaErrorIllegalAddress, 2, {"find_ranges", "write_scales", "pack_levels"});
  EXPECT_THAT(several.sentence(), HasSubstr("kernel 'pack_levels' or one of those before it (find_ranges, "));
  EXPECT_THAT(several.remedy(), HasSubstr("CUDA_LAUNCH_BLOCKING=1"));
  EXPECT_THAT(failed_work(cudaErrorIllegalAddress, 0, {}).sentence(), HasSubstr("waiting for copies on cuda:0"));
}

TEST(cuda_error, of_other_kinds_says_what_was_done) {
  EXPECT_NO_THROW(check(cudaSuccess, "nothing"));
  try {
    check(cudaErrorInvalidValue, "copying 12 bytes");
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.sentence(), "CUDA failed while copying 12 bytes: invalid argument");
  }
}

} // namespace
} // namespace gossamer::cuda::detail
