// The updates of optimisers over the queue of a GPU.
#include "gossamer/base/cuda/detail/launch.cuh"
#include "gossamer/compute/cuda/detail/updates_on.hpp"
#include "gossamer/compute/cuda/updates.hpp"

namespace gossamer::compute::cuda {

const compute::detail::updates& updates_on_gpus() noexcept {
  static const updates_on<gossamer::cuda::device_queue> all;
  return all;
}

} // namespace gossamer::compute::cuda
