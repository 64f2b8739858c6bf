#include "gossamer/base/cuda/detail/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

namespace gossamer::cuda::detail {
namespace {

constexpr auto use_cpu = "use cpu, or a machine with an NVIDIA GPU";

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

double gigabytes(std::size_t bytes) { return static_cast<double>(bytes) * 1e-9; }

} // namespace

error no_usable_driver(int driver_version, int needed_version) {
  if (driver_version == 0)
    return {errc::usage, "no NVIDIA driver is installed", use_cpu};
  return {errc::usage,
          fmt::format("the NVIDIA driver is too old: it knows CUDA {}, this program was built with CUDA {}",
                      version(driver_version), version(needed_version)),
          "use cpu, update the driver, or build Gossamer with an older CUDA toolkit"};
}

error translated(cudaError_t code, std::string_view doing) {
  if (code == cudaErrorInsufficientDriver) {
    int driver = 0, needed = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&needed);
    return no_usable_driver(driver, needed);
  }
  if (code == cudaErrorNoDevice)
    return {errc::usage, "there is no NVIDIA GPU that CUDA can use", use_cpu};
  return {errc::device, fmt::format("CUDA failed while {}: {}", doing, cudaGetErrorString(code)),
          "after such an error the GPU is lost to this process: start it again"};
}

error out_of_memory(std::size_t asked_bytes, std::size_t free_bytes, std::size_t all_bytes, int gpu) {
  return {errc::failed,
          fmt::format("out of memory on cuda:{}: {} bytes ({:.3f} GB) were asked for, {:.3f} of {:.3f} GB are free",
                      gpu, asked_bytes, gigabytes(asked_bytes), gigabytes(free_bytes), gigabytes(all_bytes)),
          "use a smaller model or batch, fewer workers on this GPU, or end what else uses it"};
}

error failed_work(cudaError_t code, int gpu, const std::vector<const char*>& kernels) {
  if (kernels.empty())
    return translated(code, fmt::format("waiting for copies on cuda:{}", gpu));
  const auto earlier = std::span{kernels}.first(kernels.size() - 1);
  return {errc::device,
          fmt::format("kernel '{}'{} failed on cuda:{}: {}", kernels.back(),
                      earlier.empty() ? "" : fmt::format(" or one of those before it ({})", fmt::join(earlier, ", ")),
                      gpu, cudaGetErrorString(code)),
          "the GPU is lost to this process; with CUDA_LAUNCH_BLOCKING=1 in the environment the error names the kernel "
          "that is at fault"};
}

} // namespace gossamer::cuda::detail
