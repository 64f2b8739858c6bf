#pragma once

#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/worker/view_change.hpp"
#include "gossamer/base/archive.hpp"

namespace gossamer::actors {

/// The workers and masters that live, and those that have the state of the run: as the last view says, corrected by
/// later news. A life that has ended stays over, even where later views do not know that yet. Part of `coordination`. A
/// value; threads: as the object that it is part of.
class membership {
public:
  /// @param e outlives this object
  membership(const experiment& e, const view_change& first) : run_(&e), workers_(e.participants()) { adopt(first); }

  bool alive(rank i) const { return workers_[i].member && !workers_[i].over; }
  bool ready(rank i) const { return alive(i) && workers_[i].ready; } ///< has the state of the run
  std::uint32_t incarnation(rank i) const { return workers_[i].incarnation; }
  /// False for a rank that does not exist, too: other processes are not trusted.
  bool is_current(rank i, std::uint32_t life) const {
    return i < workers_.size() && alive(i) && incarnation(i) == life;
  }
  std::vector<rank> living() const;
  std::size_t population() const noexcept { return population_; } ///< number of ranks that live
  std::vector<bool> who_is_ready() const;
  bool masters_are_ready() const; ///< all masters have the state of the run
  bool names_the_dead() const;    ///< the view names a life that is over

  void adopt(const view_change& next);
  /// Marks the present life of rank `i` as over.
  void end(rank i) {
    change(i, [](entry& w) { w.over = true; });
  }
  /// Removes a rank that the next view leaves out, whether its life has ended or not.
  void leave_out(rank i) {
    change(i, [](entry& w) { w.member = false; });
  }
  /// Notes that rank `i` has got the state of another worker.
  void joined(rank i) { workers_[i].ready = true; }

  void fields(archive& a);

private:
  struct entry {
    bool member = false, over = false, ready = false;
    std::uint32_t incarnation = 0;
  };

  template <class What>
  void change(rank i, What what) {
    population_ -= alive(i);
    what(workers_[i]);
    population_ += alive(i);
  }

  const experiment* run_;
  std::vector<entry> workers_;
  std::size_t population_ = 0; // of `workers_`: asked at each end of a worker
  std::uint32_t view_ = 0;
};

} // namespace gossamer::actors
