#pragma once

#include "gossamer/actors/protocol/worker_activity.hpp"
#include "gossamer/actors/worker/parting.hpp"
#include "gossamer/actors/worker/view_change.hpp"
#include "gossamer/actors/worker/worker_host.hpp"

#include <map>
#include <vector>

namespace gossamer::actors {

// Messages about steps: those that may begin, and those that have been done.

/// node -> worker (worker::adopt, worker::proceed): the rules for all from now on. Part of a `consensus::resolution`,
/// whose number it has; a decision is whole, so the newest replaces all before it.
struct decision {
  std::uint32_t number = 0;
  view_change view;        ///< the same as before if its number is
  std::uint64_t limit = 0; ///< no step from this one on begins
  /// Synchronous workers save their states for a checkpoint of this number before this step begins; 0: never.
  std::uint64_t save_at = 0;
  actors::parting parting = {};
};

/// node -> leader: reports of its workers since the last message, in order
struct work_report {
  std::vector<step_report> steps;
  std::map<std::uint64_t, std::uint64_t> staleness; ///< number of `gradient_applied` of each staleness
  std::vector<worker_activity> activity = {};       ///< of its workers, twice a second; empty if nobody looks on
};

/// leader -> worker: number of updates that all workers have done
struct run_progress {
  std::uint64_t updates = 0;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, averagings& a) {
  return f(a.asked, a.done, a.dropped);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, traffic& t) {
  return f(t.frames, t.payload_bits, t.wire_bits, t.bits_between_islands, t.averaged);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, step_report& r) {
  return f(r.source, r.incarnation, r.step, r.loss, r.sent, r.stale_frames);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, decision& m) {
  return f(m.number, m.view, m.limit, m.save_at, m.parting);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, work_report& r) {
  return f(r.steps, r.staleness, r.activity);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_progress& m) {
  return f(m.updates);
}

} // namespace gossamer::actors
