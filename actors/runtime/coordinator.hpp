#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/runtime/messages.hpp"

#include <functional>

namespace gossamer::actors {

struct coordinator_plan {
  std::shared_ptr<const experiment> run;
  run_observer* observer = nullptr;  ///< outlives the run; may be null
  std::function<bool()> interrupted; ///< asked several times a second: does the user want to stop?
  caf::actor client;                 ///< gets the `run_summary` or the `run_failed`
};

/// Starts the workers, counts their steps, decides when the run ends, collects snapshots for evaluations, and ends the
/// run with one error when any actor of it dies. Gets `peers`, then `start_run`.
///
/// How a synchronous run stops early: all workers are told to hold and say which step they are in; the last of these
/// steps is where all of them end. Nobody waits for a step that another will not do.
caf::actor spawn_coordinator(caf::actor_system& system, coordinator_plan plan);

} // namespace gossamer::actors
