#pragma once

#include "gossamer/actors/protocol/consensus.hpp"
#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/topology/islands.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <span>

namespace gossamer::actors::consensus {

/// A leader's knowledge of the workers when it concludes.
struct findings {
  const resolution& last;
  std::span<const standing> workers; ///< workers of all nodes that have answered, by rank; each rank once
  bool stop = false;                 ///< no more steps than are under way
  bool save = false;                 ///< save states before the first step that no worker has begun
};

inline constexpr auto most_workers = std::numeric_limits<std::size_t>::max();

/// Plans the view and the steps of the next resolution. Returns `nullopt` if no worker of a node that has answered has
/// a model. A pure function: it decides what is proposed, never what has been decided.
using planning = std::function<std::optional<decision>(const findings&)>;

/// The rules of `membership`, computed from answers alone, so that any node can apply them.
///
/// The view stays as it is if no worker has come and none is missing. Otherwise a new view has all that have answered:
/// * `repeat`: from the step, or the next exchange, of the furthest worker; a worker that is behind it, was left out,
///   or has no model gets the state of one that is not behind;
/// * `finish`: from a step later than the furthest worker is in; until then the old view holds, without lost workers;
/// * asynchronous algorithms: at once.
///
/// A worker that holds the model of the last resolution keeps its incarnation. Every other worker restarts, and takes
/// the number of this resolution as its incarnation. Resolution numbers never repeat, so no list of earlier
/// incarnations is needed, and no worker waits for what an earlier life owes. In a view that repeats its round, a
/// worker that is a round behind keeps its incarnation, too.
///
/// If all workers with the model of the last resolution have died, the best worker left (highest line, then step, then
/// the lowest rank) goes on from its own state, and every other worker gets that state.
///
/// A worker gets the state of another of its island. Where none there has one, workers of the island all get that of
/// the same worker.
///
/// A worker that is to leave, and is not the last with a model, first pauses (`parting`): in a synchronous run together
/// with all others, before the first step that no worker has begun. Once they have paused, the next view leaves it out,
/// and begins there.
///
/// A synchronous run that is to compute `planned_updates` gradients has another limit in a view of another number of
/// workers, unless a worker is in the last step already: the present workers share the gradients that are left.
///
/// Masters, whose ranks are not below `workers`, go on from states of their own, and give none. The exception is a
/// master whose state has died with its process: it gets one from a worker.
///
/// @param planned_updates counted as if each step of a view had the gradients of its members; `nullopt`: as many steps
///        as planned
planning membership_rules(const algorithm_traits& traits, std::size_t workers = most_workers,
                          std::optional<std::uint64_t> planned_updates = {}, topology::islands islands = {});

} // namespace gossamer::actors::consensus
