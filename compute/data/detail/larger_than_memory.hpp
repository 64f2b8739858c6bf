#pragma once

#include "gossamer/base/spec.hpp"
#include "gossamer/compute/mapped_allocator.hpp"

namespace gossamer::compute::detail {

/// The parameters of sources whose samples may be larger than memory: mapped, where samples lie, and block, in what
/// order they are visited.
parameter mapped_parameter();
parameter block_parameter();

/// What `mapped` says.
mapped_allocator<float> sample_memory(const arguments& given);
/// What `block` says, for `dataset::shuffled_block`.
std::size_t shuffled_block(const arguments& given);

} // namespace gossamer::compute::detail
