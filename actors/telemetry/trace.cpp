#include "gossamer/actors/telemetry/trace.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gossamer::actors {

trace_track trace_recorder::track(std::string_view group, std::string_view name) {
  const auto [known, fresh] = track_of_.try_emplace({std::string(group), std::string(name)},
                                                    trace_track{static_cast<std::uint32_t>(rows_.size())});
  if (fresh) {
    const auto at = std::find(groups_.begin(), groups_.end(), group);
    rows_.push_back({static_cast<std::uint32_t>(at - groups_.begin()), std::string(name)});
    if (at == groups_.end())
      groups_.emplace_back(group);
  }
  return known->second;
}

trace_name trace_recorder::name(std::string_view text) {
  if (const auto known = name_of_.find(text); known != name_of_.end())
    return known->second;
  const trace_name id{static_cast<std::uint32_t>(names_.size())};
  name_of_.emplace(names_.emplace_back(text), id);
  return id;
}

void trace_recorder::slice(trace_track on, trace_name what, std::int64_t begin_ns, std::int64_t end_ns,
                           trace_arguments arguments) {
  GOSSAMER_ASSERT(begin_ns <= end_ns, "a slice does not end before it begins");
  record({begin_ns, end_ns, on, what, 0, 0, kind::slice}, arguments);
}

void trace_recorder::instant(trace_track on, trace_name what, std::int64_t at_ns, trace_arguments arguments) {
  record({at_ns, at_ns, on, what, 0, 0, kind::instant}, arguments);
}

void trace_recorder::counter(trace_track on, trace_name what, std::int64_t at_ns, double value) {
  if (std::isfinite(value))
    record({at_ns, std::bit_cast<std::int64_t>(value), on, what, 0, 0, kind::counter}, {});
}

void trace_recorder::arrow(trace_name what, trace_track from, std::int64_t from_ns, trace_track to,
                           std::int64_t to_ns) {
  GOSSAMER_ASSERT(from_ns <= to_ns, "an arrow does not lead into the past");
  record({from_ns, to_ns, from, what, static_cast<std::uint32_t>(to), 0, kind::arrow}, {});
}

void trace_recorder::record(event e, trace_arguments arguments) {
  GOSSAMER_ASSERT(e.begin_ns >= 0, "nothing happens before the run begins");
  if (events_.size() >= limit_) {
    full_ns_ = refused_ == 0 ? e.begin_ns : std::min(full_ns_, e.begin_ns);
    ++refused_;
    return;
  }
  if (arguments.size() > 0) {
    GOSSAMER_ASSERT(arguments.size() <= std::numeric_limits<std::uint8_t>::max(), "an event has few arguments");
    e.other = static_cast<std::uint32_t>(arguments_.size());
    e.arguments = static_cast<std::uint8_t>(arguments.size());
    arguments_.insert(arguments_.end(), arguments);
  }
  events_.push_back(e);
}

} // namespace gossamer::actors
