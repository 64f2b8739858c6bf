#pragma once

#include "gossamer/actors/runtime/compute_actor.hpp"
#include "gossamer/actors/runtime/coordinator.hpp"
#include "gossamer/actors/runtime/worker_actor.hpp"
#include "gossamer/actors/worlds/run_surroundings.hpp"

namespace gossamer::actors {

/// What one world does differently from another; the actors of a run are the same in all.
struct world_parts {
  /// Starts the compute actor of a worker.
  std::function<caf::actor(caf::local_actor* parent, rank worker, std::uint32_t random_life)> spawn_compute;
  std::function<caf::actor(const caf::actor& supervisor)> spawn_evaluator;
  std::function<caf::actor(const caf::actor& owner)> spawn_checkpoint_writer = {}; ///< see coordinator_setup
  std::shared_ptr<const resumption> from = nullptr;                                ///< likewise
  std::shared_ptr<actors::transport> transport;
  bool may_wait = false;                 ///< workers on a GPU may wait for it, each in a thread of its own
  bool acknowledged = false;             ///< links may lose frames, see channel.hpp
  std::chrono::nanoseconds detection{0}; ///< see coordinator_setup
  actors::witness* witness = nullptr;    ///< outlives the run; may be null
  work_clock* clock = nullptr;           ///< likewise
  /// A worker that nobody else of this process waits for may run on the thread that brings its frames.
  bool alone = false;
};

/// Who watches and ends a run.
struct run_client {
  run_observer* observer = nullptr; ///< outlives the run; may be null
  std::function<bool()> interrupted;
  caf::actor client;                                            ///< gets the `run_summary` or the `run_failed`
  caf::actor steps_to = {};                                     ///< see coordinator_setup
  std::vector<remote_node> others = {};                         ///< likewise
  std::chrono::nanoseconds patience = std::chrono::seconds(10); ///< likewise
};

/// What `around` says of checkpoints, for a world. @param own_thread see checkpoint_writer_setup
void add_checkpoints(world_parts& parts, caf::actor_system& system, const experiment& e, const run_surroundings& around,
                     bool own_thread);

/// @error errc::bad_data when the checkpoint has no state for one of these, though there was one
void require_states(const resumption& from, const experiment& e, std::span<const rank> ranks);

/// Starts a worker of this process. @param coordinator whom it reports to: the run's, or the node that it lives on
using worker_starter = std::function<caf::actor(rank, std::uint32_t incarnation, const caf::actor& coordinator)>;
worker_starter starter_of(caf::actor_system& system, std::shared_ptr<const experiment> e, world_parts parts);

/// Spawns the coordinator of a run, which will start all other actors when it gets `start_run`.
caf::actor spawn_run(caf::actor_system& system, std::shared_ptr<const experiment> e, const world_parts& parts,
                     run_client client);

/// What the client got. @error whatever ended the run
run_summary outcome(caf::scoped_actor& client);

} // namespace gossamer::actors
