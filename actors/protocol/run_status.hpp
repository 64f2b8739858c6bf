#pragma once

#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/protocol/real.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <limits>
#include <string>
#include <vector>

namespace gossamer::actors {

// Questions that any process may ask the leader of a run without taking part: its door answers.

/// any -> leader; answered by `run_status`, or by `run_failed` where the versions differ
struct status_request {
  std::uint32_t control = control_version;
};

/// any -> leader: end the run as an interrupt does; answered as a `status_request` is
struct stop_request {
  std::uint32_t control = control_version;
};

/// any -> any node: the named node shall leave the run; answered by `will_leave`, or `run_failed`
struct leave_request {
  std::uint32_t control = control_version;
  std::uint32_t node = whoever_is_asked;

  static constexpr auto whoever_is_asked = std::numeric_limits<std::uint32_t>::max();
};
/// The answer to a `leave_request`.
struct will_leave {
  std::uint32_t node = 0;
};

/// leader -> any
struct run_status {
  std::string algorithm;
  std::uint32_t nodes = 1; ///< number in the run, with the leader
  std::uint32_t there = 1; ///< number of them that take part; the others have not come yet, or are lost
  bool begun = false;      ///< all have come
  real epoch = 0.0, planned_epochs = 0.0, loss = 0.0;
  real accuracy = std::numeric_limits<double>::quiet_NaN(); ///< that of the last evaluation; not a number: none yet
  real time_s = 0.0, steps_per_second = 0.0, bits_per_second = 0.0, remaining_s = 0.0;
  real averagings_per_step = std::numeric_limits<double>::quiet_NaN(); ///< not a number: no pairs are averaged
};

/// any -> leader: what is there to see of the run? Answered by `run_lines`, or as a `status_request` is
struct lines_request {
  std::uint32_t control = control_version;
  std::uint64_t next = 0; ///< number of the first line that is wanted, as told last; 0: all that are kept
};
/// leader -> any
struct run_lines {
  std::uint32_t leader = 0;            ///< number of its node
  std::uint64_t next = 0;              ///< number of the line that comes next
  std::vector<std::string> lines = {}; ///< of JSON (docs/watching.md); behind {"type":"begin"}, all that are kept
  std::vector<endpoint> doors = {};    ///< where other nodes answer, at most `most_doors`

  static constexpr std::size_t most_doors = 16;
};

/// Returns the same as a record of telemetry, for display.
progress_record progress_of(const run_status& s);

template <class Inspector>
decltype(auto) inspect(Inspector& f, status_request& m) {
  return f(m.control);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, stop_request& m) {
  return f(m.control);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_status& m) {
  return f(m.algorithm, m.nodes, m.there, m.begun, m.epoch, m.planned_epochs, m.loss, m.accuracy, m.time_s,
           m.steps_per_second, m.bits_per_second, m.remaining_s, m.averagings_per_step);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, lines_request& m) {
  return f(m.control, m.next);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_lines& m) {
  return f(m.leader, m.next, m.lines, m.doors);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, leave_request& m) {
  return f(m.control, m.node);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, will_leave& m) {
  return f(m.node);
}

} // namespace gossamer::actors
