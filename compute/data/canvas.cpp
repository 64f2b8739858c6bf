#include "gossamer/compute/data/detail/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gossamer::compute::detail {

namespace {

point operator+(point a, point b) { return {a.x + b.x, a.y + b.y}; }
point operator-(point a, point b) { return {a.x - b.x, a.y - b.y}; }
point operator*(float f, point a) { return {f * a.x, f * a.y}; }
float dot(point a, point b) { return a.x * b.x + a.y * b.y; }

/// The Catmull-Rom curve from b to c at t in [0, 1]: passes through its points, and its tangent at
/// each is parallel to the line between the neighbours.
point curve(point a, point b, point c, point d, float t) {
  return 0.5f
         * (2.0f * b + t * ((c - a) + t * ((2.0f * a - 5.0f * b + 4.0f * c - d) + t * (3.0f * b - a - 3.0f * c + d))));
}

/// The pixels whose centres lie in [low, high]. Signed and short, as registers convert numbers.
struct pixel_range {
  pixel_range(float low, float high)
      : begin(static_cast<std::int32_t>(std::clamp(std::floor(low), 0.0f, limit))),
        end(static_cast<std::int32_t>(std::clamp(std::ceil(high), 0.0f, limit))) {}
  static constexpr float limit = canvas::side;
  std::int32_t begin;
  std::int32_t end;
};

} // namespace

canvas::canvas(float radius) : radius_(radius) { nearest_.fill(1e9f); }

void canvas::draw(bool smooth, std::span<const point> path) {
  constexpr int pieces = 5;
  const auto last = path.size() - 1;
  const point first = path.front(), end = path.back();
  const bool closed = first.x == end.x && first.y == end.y;
  for (std::size_t i = 0; i < last; ++i) {
    if (!smooth) {
      line(path[i], path[i + 1]);
      continue;
    }
    const auto before = i > 0 ? path[i - 1] : closed ? path[last - 1] : path[i];
    const auto after = i + 2 <= last ? path[i + 2] : closed ? path[1] : path[i + 1];
    auto from = path[i];
    for (int piece = 1; piece <= pieces; ++piece) {
      const auto to = curve(before, path[i], path[i + 1], after, static_cast<float>(piece) / pieces);
      line(from, to);
      from = to;
    }
  }
}

void canvas::line(point from, point to) {
  const float reach = radius_ + 1;
  const pixel_range rows(std::min(from.y, to.y) - reach, std::max(from.y, to.y) + reach);
  const pixel_range columns(std::min(from.x, to.x) - reach, std::max(from.x, to.x) + reach);
  const auto along = to - from;
  const float length = dot(along, along);
  const float inverse = length > 0 ? 1 / length : 0;
  for (auto row = rows.begin; row < rows.end; ++row) {
    float* const nearest = nearest_.data() + static_cast<std::size_t>(row) * side;
    for (auto column = columns.begin; column < columns.end; ++column) {
      const point centre{static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f};
      const float t = std::clamp(dot(centre - from, along) * inverse, 0.0f, 1.0f);
      const auto gap = centre - (from + t * along);
      nearest[column] = std::min(nearest[column], dot(gap, gap));
    }
  }
}

std::array<float, canvas::side * canvas::side> canvas::ink() const {
  std::array<float, side * side> result;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = std::clamp(radius_ + 0.5f - std::sqrt(nearest_[i]), 0.0f, 1.0f);
  return result;
}

} // namespace gossamer::compute::detail
