#pragma once

#include "gossamer/compress/detail/places.hpp"

#include <span>

namespace gossamer::compress::detail {

/// Returns the k elements of largest magnitude; lower indices come first among equals. O(size). Requires k <= size, and
/// k > 0 unless there are none.
/// @error errc::diverged when an element is NaN or infinite; names the first
places largest(const buffer_pool& pool, std::span<const float> from, std::size_t k);

} // namespace gossamer::compress::detail
