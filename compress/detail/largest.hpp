#pragma once

#include "gossamer/compress/detail/places.hpp"

#include <span>

namespace gossamer::compress::detail {

/// Returns the k elements of largest magnitude; lower indices come first among equals. O(size). Requires k <= size, and
/// k > 0 unless there are none. NaN is larger than infinity, so an element that is not finite is among them if there is
/// one.
places largest(const buffer_pool& pool, std::span<const float> from, std::size_t k);

} // namespace gossamer::compress::detail
