#pragma once

#include "gossamer/base/cuda/detail/memory_access.hpp"

namespace gossamer::compress::cuda {

using gossamer::cuda::add_four;
using gossamer::cuda::aligned;
using gossamer::cuda::four;
using gossamer::cuda::load_four;
using gossamer::cuda::store_four;
using gossamer::cuda::warp_size;
using gossamer::cuda::whole_tile;

} // namespace gossamer::compress::cuda
