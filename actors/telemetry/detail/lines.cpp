#include "gossamer/actors/telemetry/detail/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gossamer::actors::detail {

namespace {

/// The value of a curve at an x within its range.
double value_at(const std::vector<point>& curve, double x) {
  const auto after = std::ranges::lower_bound(curve, x, {}, &point::x);
  if (after->x == x || after == curve.begin())
    return after->y;
  const auto& before = *std::prev(after);
  return std::lerp(before.y, after->y, (x - before.x) / (after->x - before.x));
}

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : std::midpoint(values[half - 1], values[half]);
}

/// All x at which a curve has a point and every curve a value, ascending.
std::vector<double> common_places(std::span<const line> curves) {
  range common{.smallest = -std::numeric_limits<double>::infinity(),
               .largest = std::numeric_limits<double>::infinity()};
  std::vector<double> all;
  for (const auto& c : curves) {
    if (c.points.empty())
      return {};
    common.smallest = std::max(common.smallest, c.points.front().x);
    common.largest = std::min(common.largest, c.points.back().x);
    std::ranges::transform(c.points, std::back_inserter(all), &point::x);
  }
  std::ranges::sort(all);
  std::erase_if(all, [&](double x) { return x < common.smallest || x > common.largest; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

} // namespace

void smooth(std::vector<point>& points, std::size_t count) {
  const auto before = points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto first = i - std::min(i, (count - 1) / 2), end = std::min(points.size(), i + count / 2 + 1);
    double sum = 0;
    for (std::size_t k = first; k < end; ++k)
      sum += before[k].y;
    points[i].y = sum / static_cast<double>(end - first);
  }
}

line median_of(std::span<const line> curves, std::string label) {
  line result{std::move(label), {}};
  std::vector<double> values(curves.size());
  for (const double x : common_places(curves)) {
    std::ranges::transform(curves, values.begin(), [x](const line& c) { return value_at(c.points, x); });
    result.points.push_back({x, median(values)}); // this sorts them
    result.low.push_back({x, values.front()});
    result.high.push_back({x, values.back()});
  }
  return result;
}

std::string draw(const line& l, const axis& x, const axis& y, std::string_view colour, std::string_view dash) {
  std::string svg;
  if (!l.low.empty()) {
    auto edge = l.high;
    edge.insert(edge.end(), l.low.rbegin(), l.low.rend());
    svg += fmt::format("<polygon fill='{}' fill-opacity='0.18' points='", colour);
    for (const auto& p : edge)
      svg += fmt::format("{:.1f},{:.1f} ", x.pixel(p.x), y.pixel(p.y));
    svg += "'/>\n";
  }
  return svg + curve(l.points, x, y, colour, dash);
}

range width_of(std::span<const line> lines) {
  range found;
  for (const auto& l : lines)
    for (const auto& p : l.points)
      found.add(p.x);
  return found;
}

range height_of(std::span<const line> lines) {
  range found;
  for (const auto& l : lines)
    for (const auto* points : {&l.points, &l.low, &l.high})
      for (const auto& p : *points)
        found.add(p.y);
  return found;
}

} // namespace gossamer::actors::detail
