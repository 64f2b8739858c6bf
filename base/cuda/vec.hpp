#pragma once

#include "gossamer/base/cuda/stream.hpp"
#include "gossamer/base/vec.hpp"

namespace gossamer::cuda {

/// v in the memory of the stream's GPU, where the stream does the arithmetic with it and what is made of it; v itself
/// where it is there already. Returns before it has been copied.
/// @error errc::failed when memory does not suffice; errc::device
vec on_gpu(const stream& s, const vec& v);

} // namespace gossamer::cuda
