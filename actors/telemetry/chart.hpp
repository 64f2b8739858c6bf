#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Several lines in one panel; points that are not finite, or not positive on a logarithmic axis, are left out.
struct line_panel {
  struct line {
    std::string label;
    std::vector<std::pair<double, double>> points;
  };
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool markers = false;  ///< at the points
  bool from_zero = true; ///< a linear y has 0; otherwise it begins near the smallest value
  std::vector<line> lines = {};
};

/// Bars of several parts on top of each other.
struct bar_panel {
  struct bar {
    std::string label;
    std::vector<double> parts; ///< one for each of `parts`; a value that is not finite has no height
  };
  std::string title, y_label;
  std::vector<std::string> parts; ///< their names
  std::vector<bar> bars;
};

/// SVG pictures: panels in two columns (in one if there is a single panel), with one legend below. The legend shows the
/// first panel's lines or parts; all panels have the same ones. A panel without data is empty.
std::string draw(std::string_view title, std::span<const line_panel> panels);
std::string draw(std::string_view title, std::span<const bar_panel> panels);

} // namespace gossamer::actors
