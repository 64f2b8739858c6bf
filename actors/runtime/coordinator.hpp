#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/runtime/messages.hpp"
#include "gossamer/actors/runtime/remote_nodes.hpp"

#include <functional>

namespace gossamer::actors {

struct coordinator_setup {
  std::shared_ptr<const experiment> run;
  run_observer* observer = nullptr;      ///< outlives the run; may be null
  std::function<bool()> interrupted;     ///< asked several times a second: does the user want to stop?
  std::chrono::nanoseconds detection{0}; ///< from a worker's death to the moment it is noticed
  /// Starts a worker actor of this process; called again with a higher incarnation when a worker is started anew.
  std::function<caf::actor(rank, std::uint32_t incarnation, const caf::actor& coordinator)> spawn_worker;
  std::vector<remote_node> others; ///< all ranks that none of them has live in this process
  std::chrono::nanoseconds patience = std::chrono::seconds(10); ///< with a node that is silent
  std::function<caf::actor(const caf::actor& coordinator)> spawn_evaluator;
  /// See checkpoint_writer.hpp; may be empty: nothing is saved.
  std::function<caf::actor(const caf::actor& coordinator)> spawn_checkpoint_writer = {};
  std::shared_ptr<const resumption> from = nullptr; ///< where the run goes on; null: it begins
  caf::actor steps_to;                              ///< gets a copy of each `step_report`; may be null
  caf::actor client;                                ///< gets the `run_summary` or the `run_failed`
};

/// Starts the workers, counts their steps, decides when the run ends, collects snapshots for evaluations, and ends the
/// run with one error when something fails that the run cannot do without. Begins with `start_run`.
///
/// A worker that dies without an error of its own (killed, or its machine is gone) is lost: the others go on under a
/// new view, and it may be started anew.
///
/// How all workers of a synchronous run change something at the same step (who is there, or where to stop): they are
/// told to hold and say which step they are in; the last of these, or the next, is where the change happens. Nobody
/// waits for a step that another will not do.
caf::actor spawn_coordinator(caf::actor_system& system, coordinator_setup setup);

} // namespace gossamer::actors
