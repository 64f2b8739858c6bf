#pragma once

#include "gossamer/base/cuda/stream.hpp"
#include "gossamer/base/vec.hpp"

namespace gossamer::cuda {

/// Returns v in the memory of the stream's GPU; v itself if it is there already. The stream does the arithmetic with
/// the result and with vectors made of it. Returns before the copy is done.
/// @error errc::failed when memory does not suffice; errc::device
vec on_gpu(const stream& s, const vec& v);

} // namespace gossamer::cuda
