#pragma once

#include "gossamer/compute/data/detail/digit_glyphs.hpp"

#include <array>

namespace gossamer::compute::detail {

/// A picture of 28 x 28 pixels, drawn by strokes. Arithmetic is +, -, *, / and square roots only, hence the same bits
/// on every machine.
class canvas {
public:
  static constexpr std::size_t side = 28;

  /// @param radius half the width of the pen, in pixels
  explicit canvas(float radius);

  /// Draws along a path in pixels, where (0, 0) is the upper left corner.
  void draw(bool smooth, std::span<const point> path);

  /// The share of each pixel that is covered by ink, in [0, 1], row by row.
  std::array<float, side * side> ink() const;

private:
  void line(point from, point to);

  float radius_;
  std::array<float, side * side> nearest_; ///< squared distance of each pixel's centre to the strokes
};

} // namespace gossamer::compute::detail
