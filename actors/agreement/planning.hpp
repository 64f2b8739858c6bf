#pragma once

#include "gossamer/actors/protocol/consensus.hpp"
#include "gossamer/actors/worker/algorithm.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <span>

namespace gossamer::actors::consensus {

/// What a leader knows of the workers when it concludes.
struct findings {
  const resolution& last;
  std::span<const standing> workers; ///< of all nodes that have answered, by rank; each rank once
  bool stop = false;                 ///< no more steps than are under way
  bool save = false;                 ///< states shall be saved before the first step that nobody has begun
};

inline constexpr auto most_workers = std::numeric_limits<std::size_t>::max();

/// What the successor of the last resolution is to say of views and steps. Nothing: nobody who has answered has a
/// model. A pure function: it decides what is proposed, never what has been decided.
using planning = std::function<std::optional<decision>(const findings&)>;

/// The rules of `membership`, computed from answers alone, so that any node can apply them.
///
/// Nobody came, nobody is missing: the view stays as it is. Else there is a new one of all who have answered:
/// * `repeat`: from the step, or the next exchange, of the furthest; who is behind it, or was left out, or has no
///   model, gets the state of one that is not behind;
/// * `finish`: from a step later than the furthest is in; until then the old view holds, without those that are lost;
/// * asynchronous algorithms: at once.
///
/// Who has the model of the last resolution keeps its incarnation. Everybody else is started anew, and its incarnation
/// is the number of the resolution that says so: unique without a book of former lives, and nobody waits for what an
/// earlier life owes. In a view that repeats its round, one that is a round behind keeps it, too.
///
/// If all have died that have the model of the last resolution, the best that is left (highest line, then step, then
/// the lowest rank) goes on from its own state, and everybody else gets that.
///
/// Who is to leave, and is not the last with a model, first pauses (`parting`): in a synchronous run with all others,
/// before the first step that nobody has begun. When they have, the next view leaves it out, and begins there.
///
/// A synchronous run that is to compute `planned_updates` gradients has another limit in a view of another number of
/// workers, unless somebody is in the last step already: what is left is shared out among those who are there.
///
/// Masters, whose ranks are not below `workers`, go on from states of their own, and give none. Only one whose state
/// has died with its process gets one from a worker.
///
/// @param planned_updates as if each step of a view had the gradients of its members; nothing: as many steps as planned
planning membership_rules(const algorithm_traits& traits, std::size_t workers = most_workers,
                          std::optional<std::uint64_t> planned_updates = {});

} // namespace gossamer::actors::consensus
