#pragma once

#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/runtime/link.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <functional>

namespace gossamer::actors {

/// What surrounds a run without being part of it.
struct run_surroundings {
  run_observer* observer = nullptr;
  std::function<bool()> interrupted = {}; ///< asked several times a second; true stops the run cleanly
  fault_plan faults = {};                 ///< injected; empty: none, and links are trusted
  std::size_t workers_per_node = 1;       ///< for faults of nodes
  link_wrapper wrap_link = {};            ///< for tests that do their own harm; may be empty
};

/// Trains with all workers in this process: one actor for each worker, one thread for each worker's gradients, and
/// messages that share memory instead of copying it. Blocks until the run has ended.
///
/// @error whatever ended the run early: errc::diverged, errc::failed, or what the observer threw; errc::usage when the
///        plan does not fit the run. Never hangs on a dead actor: a failure ends the run, and a worker that was killed
///        is lost to the others, who go on.
run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around = {});

} // namespace gossamer::actors
