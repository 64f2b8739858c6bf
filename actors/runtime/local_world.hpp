#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <functional>

namespace gossamer::actors {

/// What surrounds a run without being part of it.
struct run_surroundings {
  run_observer* observer = nullptr;
  std::function<bool()> interrupted; ///< asked several times a second; true stops the run cleanly
  link_wrapper wrap_link;            ///< for fault injection
};

/// Trains with all workers in this process: one actor for each worker, one thread for each worker's gradients, and
/// messages that share memory instead of copying it. Blocks until the run has ended.
///
/// @error whatever ended the run early: errc::diverged, errc::failed, or what the observer threw. Never hangs on a dead
///        actor: the first failure ends the run.
run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around = {});

} // namespace gossamer::actors
