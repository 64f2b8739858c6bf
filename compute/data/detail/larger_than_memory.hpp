#pragma once

#include "gossamer/base/spec.hpp"
#include "gossamer/compute/mapped_allocator.hpp"

namespace gossamer::compute::detail {

/// The parameters of sources whose samples may be larger than memory. `mapped` says where samples lie, and `block` in
/// which order they are visited.
parameter mapped_parameter();
parameter block_parameter();

/// Returns the memory that `mapped` asks for.
mapped_allocator<float> sample_memory(const arguments& given);
/// Returns the value of `block`, for `dataset::shuffled_block`.
std::size_t shuffled_block(const arguments& given);

} // namespace gossamer::compute::detail
