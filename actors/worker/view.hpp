#pragma once

#include "gossamer/topology/mixing.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace gossamer::compute {
class redealt_shards;
}

namespace gossamer::actors {

using topology::rank;

/// Who takes part in training from one step on, and who talks to whom. All workers see the same views in the same
/// order; one view is shared by all, immutable.
struct view {
  std::uint32_t number = 1;     ///< 1 at the start of a run
  std::uint64_t first_step = 0; ///< the step from which it is in force; 0 where it is at once (asynchronous runs)
  std::vector<rank> members;    ///< the workers, ascending
  /// Of every rank, also of masters: how often it had been started before, if it is there. A worker that was killed and
  /// came back has another incarnation: it is not the one that its peers knew.
  std::vector<std::optional<std::uint32_t>> incarnations;
  std::shared_ptr<const topology::mixing_matrix> mixing; ///< knows the graph; weights of members only
  std::vector<bool> active;                              ///< which workers start exchanges
  std::map<rank, rank> donors; ///< members that lack the present state, and from whom they get it
  /// Whose samples are whose; null: as the run's partition has it, because all workers of its start are there.
  std::shared_ptr<const compute::redealt_shards> shards;
  /// What the updates of all workers are more, from its first step on, than t times its members; of a run that goes on
  /// from a checkpoint, since then. 0 in asynchronous runs.
  std::int64_t updates_ahead = 0;
  std::uint64_t sampled_from = 0; ///< the first step whose minibatches are of these shards; 0 in asynchronous runs

  bool contains(rank i) const { return incarnations[i].has_value(); }
};

/// View 1: everybody is there.
std::shared_ptr<const view> first_view(std::shared_ptr<const topology::mixing_matrix> mixing, std::vector<bool> active,
                                       std::size_t masters = 0);

} // namespace gossamer::actors
