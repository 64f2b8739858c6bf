#pragma once

#include "gossamer/actors/hosting/compute_actor.hpp"
#include "gossamer/actors/hosting/worker_actor.hpp"
#include "gossamer/actors/node/node_actor.hpp"
#include "gossamer/actors/node/run_surroundings.hpp"

namespace gossamer::actors {

/// The parts in which worlds differ; the actors of a run are the same in all.
struct world_parts {
  /// Starts the compute actor of a worker.
  std::function<caf::actor(caf::local_actor* parent, rank worker, std::uint32_t random_life)> spawn_compute;
  std::function<caf::actor(const caf::actor& supervisor)> spawn_evaluator;
  std::function<caf::actor(const caf::actor& owner)> spawn_checkpoint_writer = {}; ///< as in node_setup
  std::shared_ptr<const resumption> from = nullptr;                                ///< as in node_setup
  std::shared_ptr<actors::transport> transport;
  bool may_wait = false;                 ///< workers on a GPU may wait for it, each in a thread of its own
  bool acknowledged = false;             ///< links may lose frames (channel.hpp)
  std::chrono::nanoseconds detection{0}; ///< as in node_setup
  actors::witness* witness = nullptr;    ///< outlives the run; null: workers measure their time
  run_trace* trace = nullptr;            ///< as `witness`, in real time, beside what workers measure
  island_map islands = {};               ///< those between which payload is counted
  std::function<void(std::uint64_t number)> on_checkpoint = {}; ///< as in node_client
  work_clock* clock = nullptr;                                  ///< outlives the run; may be null
  std::shared_ptr<const fault_board> faults = nullptr;          ///< as in node_setup
  /// A worker that no other actor of this process waits for may run on the thread that brings its frames.
  bool alone = false;
};

/// The parts that watch and end a run.
struct run_client {
  run_observer* observer = nullptr; ///< outlives the run; may be null
  std::function<bool()> interrupted;
  caf::actor client;        ///< gets the `run_summary` or the `run_failed`
  caf::actor steps_to = {}; ///< as in node_setup
};

/// Returns the rules by which the nodes of a run agree. @param homes the node of each rank
std::shared_ptr<const consensus::charter> charter_of(const experiment& e, std::uint32_t nodes,
                                                     std::vector<std::uint32_t> homes,
                                                     std::chrono::nanoseconds patience);
/// Returns the resolution with which the run begins. As many processes vote as may, those with the lowest numbers.
/// @param there the processes that have come
consensus::resolution founding_of(const experiment& e, const consensus::charter& rules,
                                  const std::map<consensus::node_number, consensus::process>& there);

/// Fills in what a node knows of the others, but for the ways to them.
/// @param net carries the models of masters to the node that evaluates them
void join_others(node_setup& setup, const cluster_plan& plan, std::chrono::nanoseconds patience,
                 const std::shared_ptr<transport>& net);

/// Sets up checkpoints for a world, as `around` says. @param own_thread as in checkpoint_writer_setup
void add_checkpoints(world_parts& parts, caf::actor_system& system, const experiment& e, const run_surroundings& around,
                     bool own_thread);

/// @error errc::bad_data when the checkpoint has no state for one of these ranks, though there was one
void require_states(const resumption& from, const experiment& e, std::span<const rank> ranks);

/// Returns the setup of a node in this world, without its number and without the other nodes.
node_setup setup_of(caf::actor_system& system, std::shared_ptr<const experiment> e, const world_parts& parts);

/// Spawns the only node of a run, which will start all other actors when it gets `start_run`.
caf::actor spawn_run(caf::actor_system& system, std::shared_ptr<const experiment> e, const world_parts& parts,
                     run_client client);

/// Returns the summary that the client got. @error the failure that ended the run
/// @param look called several times a second until then
run_summary outcome(
    caf::scoped_actor& client, const std::function<void()>& look = [] {});

} // namespace gossamer::actors
