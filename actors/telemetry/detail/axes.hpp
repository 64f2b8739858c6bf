#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The common look of the SVG pictures.
namespace gossamer::actors::detail {

/// The picture, and the area of the curves in it, in pixels.
inline constexpr double width = 760, height = 420;
inline constexpr double left = 64, right = 696, top = 56, bottom = 360;

inline constexpr double legend_spacing = 18; ///< pixels between two lines

inline constexpr auto ink = "#374151";

/// The look of curve i: colours that most colour-blind people can tell apart; dashes once the colours repeat.
std::string_view colour_of(std::size_t i);
std::string_view dash_of(std::size_t i);

/// Maps values onto pixels.
class axis {
public:
  /// Begins and ends with round numbers. The exception is `exact_end`: it then ends with the data.
  static axis linear(double smallest, double largest, double from_pixel, double to_pixel, bool exact_end = false);
  /// Begins and ends with 1, 2 or 5 times a power of ten. Requires 0 < smallest <= largest.
  static axis logarithmic(double smallest, double largest, double from_pixel, double to_pixel);
  /// An upward axis for losses: logarithmic if they span more than a decade, else from 0.
  static axis of_losses(double smallest, double largest);

  double pixel(double value) const;
  bool shows(double value) const { return value >= low_ && value <= high_; }
  const std::vector<double>& ticks() const { return ticks_; }

private:
  axis(double low, double high, double from, double to, bool logarithmic)
      : low_(low), high_(high), from_(from), to_(to), logarithmic_(logarithmic) {}

  double low_, high_, from_, to_;
  bool logarithmic_;
  std::vector<double> ticks_;
};

/// The range of the finite values among some numbers.
struct range {
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;

  void add(double number) {
    if (!std::isfinite(number))
      return;
    smallest = std::min(smallest, number);
    largest = std::max(largest, number);
  }
  bool empty() const { return smallest > largest; }
};

struct point {
  double x, y;
};

/// The beginning of a picture, with its title in the upper left corner; "</svg>\n" ends it.
std::string open_picture(double picture_height, std::string_view title);
/// Makes any text part of a picture: characters that XML does not allow are escaped or replaced.
std::string escaped(std::string_view content);
/// Draws any text; see `escaped`.
std::string text(double x, double y, std::string_view anchor, std::string_view colour, std::string_view content);
/// Draws a curve without the points that are not finite.
std::string curve(std::span<const point> points, const axis& x, const axis& y, std::string_view colour,
                  std::string_view dash);
/// Draws a sample of a curve or mark, and its name behind it, for legends.
std::string legend_entry(double x, double y, std::string_view colour, std::string_view dash, std::string_view content);
std::string vertical_ticks(const axis& y, double at, std::string_view anchor, std::string_view colour, bool grid);
std::string horizontal_ticks(const axis& x, std::string_view label);

} // namespace gossamer::actors::detail
