#pragma once

#include "gossamer/base/error.hpp"
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

/// The workers that take part in training from one step on, and the pairs of them that talk. All workers see the same
/// views in the same order; all share one immutable view.
struct view {
  std::uint32_t number = 1;     ///< 1 at the start of a run
  std::uint64_t first_step = 0; ///< first step under this view; 0 where it is in force at once (asynchronous runs)
  std::vector<rank> members;    ///< the workers, ascending
  /// The incarnation of each rank, masters included; absent for a rank that is not there. A worker that was killed and
  /// came back has another incarnation: it is not the worker that its peers knew.
  std::vector<std::optional<std::uint32_t>> incarnations;
  std::shared_ptr<const topology::mixing_matrix> mixing; ///< weights of members only; contains the graph
  std::vector<bool> active;                              ///< workers that start exchanges
  std::map<rank, rank> donors; ///< member that lacks the present state -> member that sends it
  /// Assignment of samples; null while all workers of the run's start are there: the run's partition then applies.
  std::shared_ptr<const compute::redealt_shards> shards;
  /// Updates of all workers, at any step from the first on, minus t times the members. A run that goes on from a
  /// checkpoint counts from there. 0 in asynchronous runs.
  std::int64_t updates_ahead = 0;
  std::uint64_t sampled_from = 0; ///< first step with minibatches from these shards; 0 in asynchronous runs

  bool contains(rank i) const {
    GOSSAMER_ASSERT(i < incarnations.size(), "a view is asked for ranks of its run alone");
    return incarnations[i].has_value();
  }
};

/// View 1, with all workers and masters.
std::shared_ptr<const view> first_view(std::shared_ptr<const topology::mixing_matrix> mixing, std::vector<bool> active,
                                       std::size_t masters = 0);

} // namespace gossamer::actors
