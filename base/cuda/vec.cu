#include "gossamer/base/cuda/detail/launch.cuh"
#include "gossamer/base/cuda/detail/queue_vec.hpp"
#include "gossamer/base/cuda/vec.hpp"

namespace gossamer::cuda {

vec on_gpu(const stream& s, const vec& v) {
  return vec{queue_vec<device_queue>::in(std::make_shared<device_queue>(s), v)};
}

} // namespace gossamer::cuda
