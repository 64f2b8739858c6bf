#include "gossamer/actors/telemetry/chart.hpp"

#include "gossamer/actors/telemetry/detail/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

using namespace detail;

constexpr double title_height = 36, panel_height = bottom + 52;
constexpr double legend_column = 340, legend_sample = 32; // with the space behind it
constexpr double letter = 6.5;                            // of a label, in a wide font
constexpr double around_bar = 0.2;                        // share of a bar's place
constexpr double small_panel_font = 17;                   // of panels that are drawn at half their size

bool can_be_shown(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

axis scale(range seen, bool logarithmic, double from_pixel, double to_pixel, bool exact_end) {
  if (seen.empty())
    seen = {.smallest = 1, .largest = 10};
  if (logarithmic)
    return axis::logarithmic(seen.smallest, seen.largest, from_pixel, to_pixel);
  return axis::linear(seen.smallest, seen.largest, from_pixel, to_pixel, exact_end);
}

std::string draw_line(const line_panel& panel, std::size_t i, const axis& x, const axis& y) {
  std::vector<point> shown;
  for (const auto& [a, b] : panel.lines[i].points)
    if (can_be_shown(a, panel.log_x) && can_be_shown(b, panel.log_y))
      shown.push_back({a, b});
  auto svg = curve(shown, x, y, colour_of(i), dash_of(i));
  if (panel.markers || shown.size() == 1)
    for (const auto& p : shown)
      svg +=
          fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>\n", x.pixel(p.x), y.pixel(p.y), colour_of(i));
  return svg;
}

std::string content(const line_panel& panel) {
  range across, up;
  for (const auto& l : panel.lines)
    for (const auto& [a, b] : l.points)
      if (can_be_shown(a, panel.log_x) && can_be_shown(b, panel.log_y)) {
        across.add(a);
        up.add(b);
      }
  if (panel.from_zero && !panel.log_y && !up.empty())
    up.add(0);
  const auto x = scale(across, panel.log_x, left, right, true);
  const auto y = scale(up, panel.log_y, bottom, top, false);
  auto svg = vertical_ticks(y, left - 8, "end", ink, true) + horizontal_ticks(x, panel.x_label);
  for (std::size_t i = 0; i < panel.lines.size(); ++i)
    svg += draw_line(panel, i, x, y);
  return svg;
}

std::string draw_bar(const bar_panel::bar& bar, double from, double to, const axis& y) {
  std::string svg;
  double height = 0;
  for (std::size_t k = 0; k < bar.parts.size(); ++k) {
    if (!std::isfinite(bar.parts[k]))
      continue;
    const double low = y.pixel(height), high = y.pixel(height += bar.parts[k]);
    svg += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>\n", from, high,
                       to - from, low - high, colour_of(k));
  }
  return svg + text((from + to) / 2, bottom + 18, "middle", ink, bar.label);
}

std::string content(const bar_panel& panel) {
  range up;
  for (const auto& bar : panel.bars) {
    double height = 0;
    up.add(height); // bars stand on 0
    for (const double part : bar.parts)
      height += std::isfinite(part) ? part : 0;
    up.add(height);
  }
  const auto y = scale(up, false, bottom, top, false);
  auto svg = vertical_ticks(y, left - 8, "end", ink, true);
  const double place = (right - left) / static_cast<double>(std::max<std::size_t>(panel.bars.size(), 1));
  for (std::size_t i = 0; i < panel.bars.size(); ++i) {
    const double from = left + place * static_cast<double>(i);
    svg += draw_bar(panel.bars[i], from + around_bar / 2 * place, from + (1 - around_bar / 2) * place, y);
  }
  return svg;
}

std::vector<std::string> legend_of(const line_panel& panel) {
  std::vector<std::string> labels;
  for (const auto& l : panel.lines)
    labels.push_back(l.label);
  return labels;
}

std::vector<std::string> legend_of(const bar_panel& panel) { return panel.parts; }

/// The column and the row of part i of a grid.
point place_of(std::size_t i, std::size_t columns) {
  const auto row = i / columns;
  return {static_cast<double>(i % columns), static_cast<double>(row)};
}

/// Two, unless a label would run into the other column.
std::size_t legend_columns(const std::vector<std::string>& labels) {
  const auto fits = [](const std::string& l) {
    return legend_sample + letter * static_cast<double>(l.size()) <= legend_column;
  };
  return std::ranges::all_of(labels, fits) ? 2 : 1;
}

std::string legend(const std::vector<std::string>& labels, std::size_t columns, double from) {
  std::string svg;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto place = place_of(i, columns);
    const double x = left + legend_column * place.x, y = from + legend_spacing * place.y;
    svg += fmt::format("<line x1='{0}' x2='{1}' y1='{2}' y2='{2}' stroke='{3}' stroke-width='3' "
                       "stroke-dasharray='{4}'/>\n",
                       x, x + 24, y - 4, colour_of(i), dash_of(i));
    svg += text(x + legend_sample, y, "start", ink, labels[i]);
  }
  return svg;
}

template <class Panel>
std::string draw_all(std::string_view title, std::span<const Panel> panels) {
  const std::size_t columns = panels.size() > 1 ? 2 : 1;
  const auto shrunk = static_cast<double>(columns);
  const double cell_width = width / shrunk, cell_height = panel_height / shrunk;
  const double rows = std::ceil(static_cast<double>(panels.size()) / shrunk);
  const auto labels = panels.empty() ? std::vector<std::string>{} : legend_of(panels.front());
  const double legend_top = title_height + rows * cell_height + legend_spacing;
  const auto of_legend = legend_columns(labels);
  const double lines = std::ceil(static_cast<double>(labels.size()) / static_cast<double>(of_legend));
  auto svg = open_picture(legend_top + legend_spacing * lines, title);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto place = place_of(i, columns);
    svg += fmt::format("<svg x='{}' y='{}' width='{}' height='{}' viewBox='0 0 {} {}'{}>\n", cell_width * place.x,
                       title_height + cell_height * place.y, cell_width, cell_height, width, panel_height,
                       columns > 1 ? fmt::format(" font-size='{}'", small_panel_font) : "");
    svg += text(left, top - 32, "start", ink, panels[i].title);
    svg += text(left, top - 12, "start", ink, panels[i].y_label);
    svg += content(panels[i]) + "</svg>\n";
  }
  return svg + legend(labels, of_legend, legend_top) + "</svg>\n";
}

} // namespace

std::string draw(std::string_view title, std::span<const line_panel> panels) { return draw_all(title, panels); }
std::string draw(std::string_view title, std::span<const bar_panel> panels) { return draw_all(title, panels); }

} // namespace gossamer::actors
