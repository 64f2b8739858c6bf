#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/runtime/view_maker.hpp"
#include "gossamer/base/archive.hpp"

#include <set>

namespace gossamer::actors {

/// The book of who is there, masters included, and what the next view is to be.
///
/// A synchronous run changes its view between two steps: all living workers hold and say which step they are in; from
/// the last of these, or the one behind it, the new view is in force; where steps exchange nothing, from the next
/// exchange of the one that is furthest. Before all have answered somebody else may be lost; then they are asked again,
/// in a new round of questions.
///
/// Part of `coordination`. A value; threads: as the object that it is part of.
class membership {
public:
  /// @param e outlives this object
  explicit membership(const experiment& e);

  bool alive(rank i) const { return workers_[i].alive; }
  bool ready(rank i) const { return workers_[i].alive && workers_[i].ready; } ///< has the state of the run
  std::uint32_t incarnation(rank i) const { return workers_[i].incarnation; }
  std::vector<rank> living() const;
  std::size_t population() const noexcept { return population_; } ///< how many live
  std::vector<bool> who_is_ready() const;
  bool anybody_ready() const; ///< among the workers
  bool masters_live() const;  ///< all of them

  /// When all are lost that were as far as the run had got, those a round behind are ready again, with the state that
  /// they have.
  void lose(rank i);
  /// A worker starts anew. @returns its incarnation
  std::uint32_t start(rank i);
  /// It has the state of another one, and is in this step.
  void joined(rank i, std::uint64_t step);

  /// Begins a round of questions to all living workers. @returns its number
  std::uint32_t ask();
  /// An answer to a round. @returns true when it was the last that the present round has waited for
  /// @param next_exchange the first step from there on in which it exchanges something (algorithm::next_exchange)
  bool answer(rank i, std::uint32_t round, std::uint64_t step, std::uint64_t next_exchange = 0);
  /// The last step that a worker which has the state was in, as of the last round.
  std::uint64_t last_step() const;

  /// Whether somebody was lost or came since the last view.
  bool changed() const noexcept { return changed_; }
  /// Workers that a view has promised a state they have not got, though others may already wait for them. They must be
  /// started anew before the next view of an algorithm that finishes its rounds.
  std::vector<rank> stranded() const;
  /// The next view, in force from after `last_step` on, but not later than `limit`.
  /// Requires a worker that is ready.
  view_change next_view(std::uint64_t limit);
  std::shared_ptr<const view> view_of(const view_change& change) { return views_.make(change); }

  void fields(archive& a);

private:
  struct entry {
    bool alive = true;
    bool ready = true;
    bool behind = false;   ///< not ready, but has a state: that of a round before
    bool promised = false; ///< a state, by the last view
    std::uint32_t incarnation = 0;
    std::uint64_t step = 0;
    std::uint64_t next_exchange = 0;
  };

  bool is_master(rank i) const { return i >= run_->settings.workers; }
  void promise_states(view_change& v);
  rank donor_for(rank i, const topology::graph& graph, const std::vector<rank>& members) const;
  std::uint64_t last(std::uint64_t entry::*of) const;
  std::uint64_t first_step_within(std::uint64_t limit) const;

  const experiment* run_;
  view_maker views_;
  std::vector<entry> workers_;
  std::uint32_t number_;
  std::uint64_t first_step_ = 0; ///< of the last view
  std::size_t population_;
  bool changed_ = false;
  std::uint32_t round_ = 0;
  std::set<rank> asked_;
};

} // namespace gossamer::actors
