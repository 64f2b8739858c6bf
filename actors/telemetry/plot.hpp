#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <span>
#include <string_view>

namespace gossamer::actors {

/// An SVG picture of a run: training and test loss (left axis, logarithmic if they span more than a decade) and test
/// accuracy (right axis) over the epochs, with marks at the events.
/// Evaluations whose values are not finite are left out.
std::string plot(std::span<const evaluation_record> records, std::span<const event_record> events,
                 std::string_view title);

} // namespace gossamer::actors
