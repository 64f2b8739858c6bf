#include "gossamer/actors/telemetry/comparison.hpp"

#include "gossamer/actors/telemetry/detail/axes.hpp"
#include "gossamer/base/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gossamer::actors {

namespace {

using namespace detail;

/// A value that an axis can show.
struct quantity {
  std::string_view name, label;
  double (*value)(const evaluation_record&);
};

constexpr std::array<quantity, 3> xs{{
    {"seconds", "seconds", [](const auto& r) { return r.time_s; }},
    {"epochs", "epochs", [](const auto& r) { return r.epoch; }},
    {"bits", "payload sent by all workers", [](const auto& r) { return static_cast<double>(r.payload_bits); }},
}};
constexpr std::array<quantity, 3> ys{{
    {"train-loss", "training loss", [](const auto& r) { return r.train_loss; }},
    {"test-loss", "test loss", [](const auto& r) { return r.test_loss; }},
    {"accuracy", "test accuracy", [](const auto& r) { return r.test_accuracy.value_or(NAN); }},
}};

const quantity& find(std::span<const quantity> among, std::string_view what, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& q : among) {
    if (q.name == name)
      return q;
    known.emplace_back(q.name);
  }
  throw unknown_name(what, name, known);
}

struct line {
  std::string_view label;
  std::vector<point> points;
};

std::vector<line> lines(std::span<const recorded_run> runs, const quantity& x, const quantity& y) {
  std::vector<line> result;
  for (const auto& run : runs) {
    line next{run.label, {}};
    for (const auto& r : run.evaluations)
      if (const point p{x.value(r), y.value(r)}; std::isfinite(p.x) && std::isfinite(p.y))
        next.points.push_back(p);
    if (next.points.empty())
      throw error(errc::usage, fmt::format("{} has no {} over {}", run.label, y.label, x.label),
                  "choose other axes with --x and --y");
    result.push_back(std::move(next));
  }
  return result;
}

/// Divides big numbers into thousands, millions, ...: @returns the unit for the axis
std::string_view shorten(std::vector<line>& lines, double largest) {
  static constexpr std::array units{"bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"};
  std::size_t i = 0;
  for (; largest >= 1000 && i + 1 < units.size(); ++i)
    largest /= 1000;
  for (auto& l : lines)
    for (auto& p : l.points)
      p.x /= std::pow(1000, i);
  return units[i];
}

range extent(const std::vector<line>& lines, double point::*coordinate) {
  range found;
  for (const auto& l : lines)
    for (const auto& p : l.points)
      found.add(p.*coordinate);
  return found;
}

axis vertical(range y, const quantity& what, std::optional<bool> logarithmic) {
  const bool loss = what.name != "accuracy";
  if (logarithmic == true && !(y.smallest > std::numeric_limits<double>::min()))
    throw error(errc::usage,
                fmt::format("the {} falls to {}, which no logarithmic scale shows", what.label, y.smallest),
                "leave --log out");
  if (logarithmic == true)
    return axis::logarithmic(y.smallest, y.largest, bottom, top);
  if (loss && !logarithmic)
    return axis::of_losses(y.smallest, y.largest);
  return axis::linear(loss ? std::min(0., y.smallest) : y.smallest, loss ? y.largest : 1, bottom, top);
}

constexpr double legend_top = bottom + 64, legend_text = left + 32;

} // namespace

std::string compare(std::span<const recorded_run> runs, std::string_view x_name, std::string_view y_name,
                    std::optional<bool> logarithmic) {
  const auto& across = find(xs, "--x", x_name);
  const auto& up = find(ys, "--y", y_name);
  auto all = lines(runs, across, up);
  std::string label{across.label};
  if (across.name == "bits")
    label += fmt::format(", {}", shorten(all, extent(all, &point::x).largest));
  const auto x = axis::linear(0, extent(all, &point::x).largest, left, right, true);
  const auto y = vertical(extent(all, &point::y), up, logarithmic);

  auto svg = open_picture(legend_top + legend_spacing * static_cast<double>(all.size()), up.label);
  svg += vertical_ticks(y, left - 8, "end", ink, true);
  svg += horizontal_ticks(x, label);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto colour = colour_of(i), dash = dash_of(i);
    svg += curve(all[i].points, x, y, colour, dash);
    const double at = legend_top + legend_spacing * static_cast<double>(i);
    svg += fmt::format("<line x1='{}' x2='{}' y1='{}' y2='{}' stroke='{}' stroke-width='2' stroke-dasharray='{}'/>\n",
                       left, legend_text - 8, at - 4, at - 4, colour, dash);
    svg += text(legend_text, at, "start", ink, all[i].label);
  }
  return svg + "</svg>\n";
}

} // namespace gossamer::actors
