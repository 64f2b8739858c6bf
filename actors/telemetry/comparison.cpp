#include "gossamer/actors/telemetry/comparison.hpp"

#include "gossamer/actors/telemetry/detail/lines.hpp"
#include "gossamer/base/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace gossamer::actors {

namespace {

using namespace detail;

/// A value that an axis can show.
struct quantity {
  std::string_view name, label, unit;
  double (*value)(const evaluation_record&);
};

constexpr std::array<quantity, 3> xs{{
    {"seconds", "time (s)", "", [](const auto& r) { return r.time_s; }},
    {"epochs", "epochs (passes over the training data)", "", [](const auto& r) { return r.epoch; }},
    {"bits", "payload sent by all workers", "", [](const auto& r) { return static_cast<double>(r.payload_bits); }},
}};
/// Averagings of pairs done for each gradient so far.
double averagings_per_step(const evaluation_record& r) {
  return r.averagings ? static_cast<double>(r.averagings->done) / static_cast<double>(r.step) : NAN;
}

constexpr std::array<quantity, 4> ys{{
    {"train-loss", "training loss", "", [](const auto& r) { return r.train_loss; }},
    {"test-loss", "test loss", "", [](const auto& r) { return r.test_loss; }},
    {"accuracy", "test accuracy", " (share)", [](const auto& r) { return r.test_accuracy.value_or(NAN); }},
    {"averagings", "averagings per gradient", "", averagings_per_step},
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

line line_of(const recorded_run& run, const quantity& x, const quantity& y) {
  line result{run.label, {}};
  for (const auto& r : run.evaluations)
    if (const point p{x.value(r), y.value(r)}; std::isfinite(p.x) && std::isfinite(p.y))
      result.points.push_back(p);
  if (result.points.empty())
    throw error(errc::usage, fmt::format("{} has no {} over {}", run.label, y.label, x.name),
                "choose other axes with --x and --y");
  result.marks = marks_of(run.events, run.evaluations, x.value);
  return result;
}

/// Puts the curves of runs that differ only in the seed together, each at the place of its first run.
std::vector<line> banded(std::span<const recorded_run> runs, const std::vector<line>& curves) {
  std::vector<std::vector<line>> groups;
  std::map<std::string, std::size_t> group_of;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& settings = runs[i].settings_but_seed;
    if (!settings)
      throw error(errc::usage, fmt::format("{} has no config.toml, which tells runs apart", runs[i].label),
                  "leave --band out, or that run");
    const auto [at, is_new] = group_of.try_emplace(*settings, groups.size());
    if (is_new)
      groups.emplace_back();
    groups[at->second].push_back(curves[i]);
  }
  if (groups.size() == runs.size())
    throw error(errc::usage, "no two of the runs differ only in the seed, so there is nothing to make a band of",
                "leave --band out, or repeat a run with another --seed");
  std::vector<line> result;
  for (const auto& g : groups) {
    result.push_back(g.size() == 1 ? g.front()
                                   : median_of(g, fmt::format("{}: median of {} seeds", g.front().label, g.size())));
    if (result.back().points.empty())
      throw error(errc::usage, fmt::format("the runs like {} have no x in common", g.front().label),
                  "choose another axis with --x");
  }
  return result;
}

std::vector<line> lines(std::span<const recorded_run> runs, const quantity& x, const quantity& y,
                        const comparison_options& options) {
  std::vector<line> result;
  for (const auto& run : runs)
    smooth(result.emplace_back(line_of(run, x, y)).points, options.smooth);
  return options.band ? banded(runs, result) : result;
}

/// Divides big numbers into thousands, millions, ...: @returns the unit for the axis
std::string_view shorten(std::vector<line>& lines, double largest) {
  static constexpr std::array units{"bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"};
  std::size_t i = 0;
  for (; largest >= 1000 && i + 1 < units.size(); ++i)
    largest /= 1000;
  const double unit = std::pow(1000, i);
  for (auto& l : lines) {
    for (auto* points : {&l.points, &l.low, &l.high})
      for (auto& p : *points)
        p.x /= unit;
    for (auto& m : l.marks)
      m.x /= unit;
  }
  return units[i];
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

constexpr double legend_top = bottom + 64;

/// The marks of all curves, with the names of their runs where there are several.
std::vector<mark> all_marks(const std::vector<line>& lines) {
  std::vector<mark> all;
  for (const auto& l : lines)
    for (const auto& m : l.marks)
      all.push_back({m.x, m.kind, lines.size() > 1 ? fmt::format("{}, {}", l.label, m.what) : m.what});
  return all;
}

} // namespace

std::string compare(std::span<const recorded_run> runs, const comparison_options& options) {
  const auto& across = find(xs, "--x", options.x);
  const auto& up = find(ys, "--y", options.y);
  auto all = lines(runs, across, up, options);
  std::string label{across.label};
  if (across.name == "bits")
    label += fmt::format(" ({})", shorten(all, width_of(all).largest));
  const auto x = axis::linear(0, width_of(all).largest, left, right, true);
  const auto y = vertical(height_of(all), up, options.logarithmic);
  const auto marks = all_marks(all);

  const auto rows = static_cast<double>(all.size() + (marks.empty() ? 0 : 1));
  auto svg = open_picture(legend_top + legend_spacing * rows, fmt::format("{} over {}", up.label, across.name));
  svg += vertical_ticks(y, left - 8, "end", ink, true);
  svg += horizontal_ticks(x, label);
  svg += text(left - 8, top - 12, "start", ink, fmt::format("{}{}", up.label, up.unit));
  svg += draw_marks(marks, x);
  for (std::size_t i = 0; i < all.size(); ++i) {
    svg += draw(all[i], x, y, colour_of(i), dash_of(i));
    svg += legend_entry(left, legend_top + legend_spacing * static_cast<double>(i), colour_of(i), dash_of(i),
                        all[i].label);
  }
  return svg + legend_of_marks(marks, legend_top + legend_spacing * static_cast<double>(all.size())) + "</svg>\n";
}

} // namespace gossamer::actors
