#pragma once

#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/run/experiment.hpp"

namespace gossamer::actors {

struct evaluator_setup {
  std::shared_ptr<const experiment> run;
  std::uint32_t node = 0;
  std::vector<std::uint32_t> homes = {};    ///< as in `mean_place`; empty: all in this one
  std::shared_ptr<transport> net = nullptr; ///< to the node above; may be null where there is one node
  /// Gets all `evaluated`, the `snapshot`s of masters elsewhere, and a `node_lost` or `worker_lost` about a sender of
  /// nonsense.
  caf::actor supervisor;
  bool own_thread = false; ///< training goes on meanwhile then
};

/// Spawns a node's evaluator. It forms means of models with the evaluators of other nodes (`mean_gathering`); the
/// root's evaluates them. Takes `evaluate_models`, and the frames for the node's `evaluating_life`.
caf::actor spawn_evaluator(caf::actor_system& system, evaluator_setup setup);

} // namespace gossamer::actors
