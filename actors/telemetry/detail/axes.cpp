#include "gossamer/actors/telemetry/detail/axes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gossamer::actors::detail {

namespace {

constexpr int about_ticks = 5;
constexpr int few_decades = 2; // at most this many have ticks at 1, 2, 5, 10, 20, ...; more have them at powers of ten
constexpr int most_ticks = 8;  // at powers of ten
constexpr std::array steps{1., 2., 5.};
constexpr double rounding = 1e-9;

/// The colours of Okabe and Ito, without the yellow that is hard to see on white.
constexpr std::array<std::string_view, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<std::string_view, 3> dashes{"none", "6 4", "2 3"};

} // namespace

std::string_view colour_of(std::size_t i) { return colours[i % colours.size()]; }
std::string_view dash_of(std::size_t i) { return dashes[i / colours.size() % dashes.size()]; }

axis axis::linear(double smallest, double largest, double from_pixel, double to_pixel, bool exact_end) {
  const double least =
      rounding * std::max(std::abs(smallest), std::abs(largest)); // so that ticks are different numbers
  const double span = std::max(largest > smallest ? largest - smallest : 1, least);
  const double magnitude = std::pow(10, std::floor(std::log10(span / about_ticks)));
  const double ratio = span / about_ticks / magnitude;
  const double spacing = (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10) * magnitude;
  const double low = std::floor(smallest / spacing + rounding) * spacing;
  double high = exact_end ? largest : low + std::ceil((largest - low) / spacing - rounding) * spacing;
  if (high <= low)
    high = low + spacing;
  axis result(low, high, from_pixel, to_pixel, false);
  for (double v = low; v <= high + rounding * spacing; v += spacing)
    result.ticks_.push_back(v);
  return result;
}

axis axis::logarithmic(double smallest, double largest, double from_pixel, double to_pixel) {
  const double first = std::floor(std::log10(smallest)), last = std::ceil(std::log10(largest));
  std::vector<double> round;
  for (double decade = first; decade <= last; ++decade)
    for (const double step : steps)
      round.push_back(step * std::pow(10, decade));
  auto begin = std::upper_bound(round.begin(), round.end(), smallest * (1 + rounding));
  auto end = std::lower_bound(round.begin(), round.end(), largest * (1 - rounding));
  begin -= begin != round.begin();
  if (begin == end)
    ++end;
  axis result(*begin, *end, from_pixel, to_pixel, true);
  const double decades = std::log10(*end / *begin);
  const auto each =
      static_cast<std::ptrdiff_t>(steps.size()) * static_cast<std::ptrdiff_t>(std::ceil(decades / most_ticks));
  for (auto v = begin; v <= end; ++v)
    if (decades <= few_decades || (v - round.begin()) % each == 0)
      result.ticks_.push_back(*v);
  return result;
}

axis axis::of_losses(double smallest, double largest) {
  constexpr double decade = 10, extreme = 1e300;
  if (smallest > 1 / extreme && largest < extreme && largest > decade * smallest)
    return logarithmic(smallest, largest, bottom, top);
  return linear(std::min(0., smallest), largest, bottom, top);
}

double axis::pixel(double value) const {
  const double share = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::string escaped(std::string_view content) {
  using nlohmann::json;
  const auto utf8 = json::parse(json(content).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::string out;
  for (const char c : utf8)
    switch (c) {
    case '<':
      out += "&lt;";
      break;
    case '&':
      out += "&amp;";
      break;
    default:
      out += c >= 0 && c < ' ' ? ' ' : c;
    }
  return out;
}

std::string open_picture(double picture_height, std::string_view title) {
  return fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
                     "font-family='sans-serif' font-size='12'>\n<rect width='{0}' height='{1}' fill='white'/>\n"
                     "<text x='{2}' y='24' font-size='15' fill='{3}'>{4}</text>\n",
                     width, picture_height, left, ink, escaped(title));
}

std::string text(double x, double y, std::string_view anchor, std::string_view colour, std::string_view content) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' fill='{}'>{}</text>\n", x, y, anchor, colour,
                     escaped(content));
}

std::string curve(std::span<const point> points, const axis& x, const axis& y, std::string_view colour,
                  std::string_view dash) {
  std::string path;
  for (const auto& p : points)
    if (std::isfinite(p.x) && std::isfinite(p.y))
      path += fmt::format("{:.1f},{:.1f} ", x.pixel(p.x), y.pixel(p.y));
  return fmt::format("<polyline fill='none' stroke='{}' stroke-width='2' stroke-dasharray='{}' points='{}'/>\n", colour,
                     dash, path);
}

std::string legend_entry(double x, double y, std::string_view colour, std::string_view dash, std::string_view content) {
  constexpr double sample = 24, gap = 8;
  return fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='2' "
                     "stroke-dasharray='{}'/>\n",
                     x, x + sample, y - 4, y - 4, colour, dash)
         + text(x + sample + gap, y, "start", ink, content);
}

std::string vertical_ticks(const axis& y, double at, std::string_view anchor, std::string_view colour, bool grid) {
  std::string out;
  for (const double v : y.ticks()) {
    if (grid)
      out += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='#e5e7eb'/>\n", left, right, y.pixel(v),
                         y.pixel(v));
    out += text(at, y.pixel(v) + 4, anchor, colour, fmt::format("{:.4g}", v));
  }
  return out;
}

std::string horizontal_ticks(const axis& x, std::string_view label) {
  std::string out;
  for (const double v : x.ticks())
    out += text(x.pixel(v), bottom + 18, "middle", ink, fmt::format("{:.4g}", v));
  return out + text((left + right) / 2, bottom + 38, "middle", ink, label);
}

} // namespace gossamer::actors::detail
