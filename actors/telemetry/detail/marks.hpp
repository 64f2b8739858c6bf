#pragma once

#include "gossamer/actors/telemetry/detail/axes.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <functional>

namespace gossamer::actors::detail {

/// An event at its place on the horizontal axis of a picture.
struct mark {
  double x = 0;
  event_kind kind = event_kind::note;
  std::string what;
};

/// Returns the events but notes, at most 300: the first ones. Their places follow from their times, by the evaluations
/// around them.
/// @param x the value of an evaluation on the axis
std::vector<mark> marks_of(std::span<const event_record> events, std::span<const evaluation_record> evaluations,
                           const std::function<double(const evaluation_record&)>& x);

/// Draws thin lines from the top to the bottom, which tell what happened to who points at them. Colours and dashes
/// depend on the kind; what the axis does not show is left out.
std::string draw_marks(std::span<const mark> marks, const axis& x);

/// Draws a row that explains the kinds among the marks; nothing without marks.
std::string legend_of_marks(std::span<const mark> marks, double y);

} // namespace gossamer::actors::detail
