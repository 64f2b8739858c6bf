#pragma once

#include "gossamer/base/error.hpp"

#include <cstddef>
#include <cuda_runtime_api.h>
#include <string>
#include <string_view>
#include <vector>

// Turns codes of the CUDA runtime into errors, in this one place. Only sources under */cuda/ include this header.
namespace gossamer::cuda::detail {

/// @param doing what was tried, e.g. "creating a stream on cuda:0"
error translated(cudaError_t code, std::string_view doing);

/// The error for a driver that is missing or too old for this program. Versions are in CUDA's form, e.g. 12020.
error no_usable_driver(int driver_version, int needed_version);

error out_of_memory(std::size_t asked_bytes, std::size_t free_bytes, std::size_t all_bytes, int gpu);

/// @param kernels launched since the stream was last waited for, the last one last
error failed_work(cudaError_t code, int gpu, const std::vector<const char*>& kernels);

/// @error whatever the code means
inline void check(cudaError_t code, std::string_view doing) {
  if (code != cudaSuccess)
    throw translated(code, doing);
}

} // namespace gossamer::cuda::detail
