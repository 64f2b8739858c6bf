#pragma once

#include <span>
#include <vector>

namespace gossamer::compute::detail {

/// A place in a unit square; x to the right, y downwards.
struct point {
  float x;
  float y;
};

/// One movement of the pen: through all points, in straight lines or along a smooth curve.
struct stroke {
  bool smooth;
  std::vector<point> points;
};

/// One way of writing a digit.
using glyph = std::vector<stroke>;

/// Returns the ways of writing a digit, 0 to 9.
std::span<const glyph> glyphs_of(std::size_t digit);

} // namespace gossamer::compute::detail
