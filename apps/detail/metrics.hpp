#pragma once

#include "gossamer/apps/detail/line_history.hpp"

namespace gossamer::apps {

/// The state of a run for Prometheus, in its text exposition format, version 0.0.4 (docs/exports.md has the names).
/// What the lines do not say is left out.
std::string metrics_text(const line_history& lines);

inline constexpr auto metrics_type = "text/plain; version=0.0.4; charset=utf-8"; ///< of its content, for HTTP

/// Runs with more workers have one time series for all of them together, in place of one for each: Prometheus keeps
/// every series in memory.
inline constexpr std::size_t most_workers_apart = 1000;

} // namespace gossamer::apps
