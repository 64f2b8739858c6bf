#include "gossamer/actors/telemetry/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace gossamer::actors {

namespace {

constexpr double width = 760, height = 420;
constexpr double left = 64, right = 696, top = 56, bottom = 360;
constexpr int ticks = 5;

/// Maps values onto pixels. It begins and ends with round numbers, unless it shall end exactly with the data.
struct axis {
  double low, high, from, to, spacing;

  axis(double smallest, double largest, double from_pixel, double to_pixel, bool exact_end = false)
      : from(from_pixel), to(to_pixel) {
    const double span = largest > smallest ? largest - smallest : 1;
    const double magnitude = std::pow(10, std::floor(std::log10(span / ticks)));
    const double ratio = span / ticks / magnitude;
    spacing = (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10) * magnitude;
    low = std::floor(smallest / spacing + 1e-9) * spacing;
    high = exact_end ? largest : low + std::ceil((largest - low) / spacing - 1e-9) * spacing;
    if (high <= low)
      high = low + spacing;
  }
  double pixel(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

using value_of = std::function<double(const evaluation_record&)>;

std::string curve(std::span<const evaluation_record> records, const axis& x, const axis& y, const value_of& value,
                  std::string_view colour, std::string_view dash) {
  std::string points;
  for (const auto& r : records)
    if (std::isfinite(value(r)))
      points += fmt::format("{:.1f},{:.1f} ", x.pixel(r.epoch), y.pixel(value(r)));
  return fmt::format("<polyline fill='none' stroke='{}' stroke-width='2' stroke-dasharray='{}' points='{}'/>\n", colour,
                     dash, points);
}

std::string text(double x, double y, std::string_view anchor, std::string_view colour, std::string_view content) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' fill='{}'>{}</text>\n", x, y, anchor, colour,
                     content);
}

std::string vertical_ticks(const axis& y, double at, std::string_view anchor, std::string_view colour, bool grid) {
  std::string out;
  for (double v = y.low; v <= y.high + y.spacing / 2; v += y.spacing) {
    if (grid)
      out += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='#e5e7eb'/>\n", left, right, y.pixel(v),
                         y.pixel(v));
    out += text(at, y.pixel(v) + 4, anchor, colour, fmt::format("{:.4g}", v));
  }
  return out;
}

constexpr auto loss_colour = "#b45309", test_colour = "#d97706", accuracy_colour = "#1d4ed8", ink = "#374151";

} // namespace

std::string plot(std::span<const evaluation_record> records, std::string_view title) {
  double last_epoch = 0, largest_loss = 0, smallest_accuracy = 1;
  bool accuracy = false;
  for (const auto& r : records) {
    last_epoch = std::max(last_epoch, r.epoch);
    for (const double loss : {r.train_loss, r.test_loss})
      if (std::isfinite(loss))
        largest_loss = std::max(largest_loss, loss);
    if (r.test_accuracy) {
      accuracy = true;
      smallest_accuracy = std::min(smallest_accuracy, *r.test_accuracy);
    }
  }
  const axis x{0, last_epoch, left, right, true};
  const axis loss{0, largest_loss, bottom, top};
  const axis share{smallest_accuracy, 1, bottom, top};

  auto svg = fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
                         "font-family='sans-serif' font-size='12'>\n<rect width='{0}' height='{1}' fill='white'/>\n",
                         width, height);
  svg += fmt::format("<text x='{}' y='24' font-size='15' fill='{}'>{}</text>\n", left, ink, title);
  svg += vertical_ticks(loss, left - 8, "end", loss_colour, true);
  for (double v = x.low; v <= x.high * (1 + 1e-9); v += x.spacing)
    svg += text(x.pixel(v), bottom + 18, "middle", ink, fmt::format("{:.4g}", v));
  svg += text((left + right) / 2, bottom + 38, "middle", ink, "epoch");
  svg += text(left - 8, top - 12, "start", loss_colour, "training loss (line), test loss (dashes)");
  svg += curve(
      records, x, loss, [](const auto& r) { return r.train_loss; }, loss_colour, "none");
  svg += curve(
      records, x, loss, [](const auto& r) { return r.test_loss; }, test_colour, "6 4");
  if (accuracy) {
    svg += vertical_ticks(share, right + 8, "start", accuracy_colour, false);
    svg += text(right + 8, top - 12, "end", accuracy_colour, "test accuracy");
    svg += curve(
        records, x, share, [](const auto& r) { return r.test_accuracy.value_or(NAN); }, accuracy_colour, "none");
  }
  return svg + "</svg>\n";
}

} // namespace gossamer::actors
