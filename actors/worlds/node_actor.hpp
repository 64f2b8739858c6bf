#pragma once

#include "gossamer/actors/worlds/real_time.hpp"
#include "gossamer/actors/worlds/rendezvous.hpp"

namespace gossamer::actors {

struct node_setup {
  std::uint32_t number = 0; ///< of this node
  std::shared_ptr<const experiment> run;
  std::shared_ptr<const real_time> world;
  std::shared_ptr<transport> net;                                 ///< without faults
  std::function<void(const std::vector<node_entry>&)> meet_nodes; ///< who is where
  std::chrono::nanoseconds patience = std::chrono::seconds(10);   ///< with a coordinator that is silent
  caf::actor client;                                              ///< gets the `leave_run`, or a `run_failed`
};

/// What a node says that has heard nothing of its leader for so long.
run_failed silent_leader(std::chrono::nanoseconds patience);

/// A process of workers that another one coordinates. Begins with a `cluster_plan`; then obeys the coordinator's orders
/// and hands on what its workers say: reports together, at most 20 times a second. It keeps their models until
/// their mean is asked for; those of masters go to the leader at once.
caf::actor spawn_node(caf::actor_system& system, node_setup setup);

} // namespace gossamer::actors
