#pragma once

#include "gossamer/actors/telemetry/detail/axes.hpp"
#include "gossamer/actors/telemetry/detail/marks.hpp"

namespace gossamer::actors::detail {

/// A curve of a picture, and what belongs to it.
struct line {
  std::string label;
  std::vector<point> points;              ///< finite, ascending by x
  std::vector<point> low = {}, high = {}; ///< the edges of the band around the curve, at the same x; empty: no band
  std::vector<mark> marks = {};
};

/// Replaces each y by the mean of `count` of them around it, of fewer at the ends.
void smooth(std::vector<point>& points, std::size_t count);

/// Makes the median of several curves one curve, with a band from the smallest to the largest value. It has a point
/// wherever one of them has one, where all of them have begun and none has ended; between its points a curve is
/// straight. The marks are left out.
/// @param curves at least one @returns a line without points if at no x there are all
line median_of(std::span<const line> curves, std::string label);

/// Draws the band and the curve.
std::string draw(const line& l, const axis& x, const axis& y, std::string_view colour, std::string_view dash);

/// The ranges of the curves and bands.
range width_of(std::span<const line> lines);
range height_of(std::span<const line> lines);

} // namespace gossamer::actors::detail
