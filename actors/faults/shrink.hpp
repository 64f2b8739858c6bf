#pragma once

#include "gossamer/actors/faults/plan.hpp"

#include <functional>

namespace gossamer::actors {

/// True if a run under this plan still shows the failure. Must be repeatable: the simulated world is.
using still_fails = std::function<bool(const fault_plan&)>;

struct shrink_options {
  std::size_t max_attempts = 1000; ///< calls of the predicate
  std::size_t workers = 0;         ///< of the run, to narrow faults that are on all links; 0: leave those unchanged
  std::function<void(std::size_t attempt, const fault_plan& tried, bool fails)> on_attempt = {}; ///< for a log
};

/// A smaller plan that still fails. Delta debugging (ddmin; Zeller and Hildebrandt, "Simplifying and isolating
/// failure-inducing input", IEEE TSE 28(2), 2002) over the faults, then over the workers and links of each, then
/// simpler numbers: durations, rates and sizes halved, begins at 0, fewer digits. All of it repeats until the plan no
/// longer changes.
///
/// Unless the attempts run out, no single fault and no single worker can be left out of the result. Deterministic; no
/// plan is tried twice. O(f^2) attempts for f faults that are all needed, O(log f) for one.
/// @param failing a plan that fails, taken on trust; the result is this plan or one that was seen to fail
fault_plan shrink(fault_plan failing, const still_fails& fails, const shrink_options& options = {});

} // namespace gossamer::actors
