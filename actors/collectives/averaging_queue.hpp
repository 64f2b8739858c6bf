#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <deque>
#include <map>
#include <optional>

namespace gossamer::actors {

/// An averaging of models with a neighbour.
struct due_averaging {
  rank with = 0;
  bool invited = false;   ///< for a gradient of the neighbour,
  std::uint32_t view = 0; ///< which has entered this view
};

/// The averagings that gradients ask for, and those that this worker's gradients still owe: it is to ask for them, they
/// are under way, or it has invited a neighbour that has not asked yet. Counts those that are dropped.
///
/// Unless gradients wait for averagings, the number of those that are due is limited: links that bear fewer averagings
/// than there are gradients never catch up.
/// Threads: actor-confined.
class averaging_queue {
public:
  /// @param most_owed averagings that gradients may owe before they wait; 0: they do not wait
  explicit averaging_queue(std::size_t most_owed) : most_owed_(most_owed) {}

  /// Forgets what was under way: another state has taken the place of one that was asking.
  void begin();
  /// `co_await change()` until `notify`, or until less is owed.
  signal::waiter change() noexcept { return changed_.wait(); }
  void notify() { changed_.notify(); }

  // -- the side that asks
  void add(worker& w, due_averaging due);
  /// The next one to ask for. Skips neighbours that were lost, or that this worker's or their change of side rules out;
  /// keeps the invitation of one that has entered a view before this worker, which holds up no other.
  std::optional<due_averaging> take(worker& w);
  void begins(const due_averaging& one);
  void ends(const due_averaging& one);
  std::size_t under_way() const noexcept { return under_way_; }
  /// Drops all that are due.
  void drop(worker& w);

  // -- the side that invites
  void has_invited(rank j) { ++invitations_[j]; }
  /// Notes a request that was answered.
  void has_answered(const frame& request);
  void forget_invitations();

  bool owes_too_much() const;

private:
  void less_is_owed();

  std::size_t most_owed_;
  std::deque<due_averaging> due_; ///< in the order of the gradients, own ones and those of inviting neighbours
  std::size_t under_way_ = 0;
  std::size_t own_under_way_ = 0;           ///< of them for own gradients
  std::map<rank, std::size_t> invitations_; ///< that no request has answered, since the view has changed
  signal changed_;
};

} // namespace gossamer::actors
