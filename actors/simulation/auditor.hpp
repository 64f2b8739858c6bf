#pragma once

#include "gossamer/actors/protocol/resolution.hpp"
#include "gossamer/actors/worker/witness.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/topology/islands.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace gossamer::actors {

/// The breach of a promise of a run, with the worker and the time.
class broken_promise final : public error {
public:
  explicit broken_promise(std::string what)
      : error(errc::failed, std::move(what), "the algorithm or the runtime is at fault, not the settings") {}
};

/// Checks the properties that hold in every run, whatever faults strike it.
///
///  - frames reach the algorithm once, in order and without gaps, between any two incarnations of workers;
///  - frames of a step of a synchronous algorithm are received in that step or in the next one;
///  - the ledger of a worker equals what its links have carried;
///  - neighbours of a synchronous algorithm are at most as many steps apart as it promises;
///  - every view is the same for all, mixes with a symmetric doubly stochastic matrix, and its graph is connected (and
///    two-coloured where exchanges are asked and answered);
///  - the residual of a worker that leaves is added to its heir's, to the bit, if it has reached the heir;
///  - resolutions are the same for all nodes;
///  - steps, epochs and bits that are reported never go back, also when another node leads;
///  - a checkpoint of an asynchronous run has both halves of an exchange or none, if the algorithm claims it;
///  - claims of algorithms (witness.hpp) are true: equal, conserved, opposite.
///
/// Keeps the first broken promise; the world asks for it after each event. Memory: the claims that are not yet settled.
/// Threads: one at a time.
class auditor {
public:
  /// The last step that a neighbour of a worker in step t may be in; empty: any step.
  using step_limit = std::function<std::uint64_t(std::uint64_t t)>;

  /// @param bipartite exchanges go between active and passive workers only
  /// @param beside    for neighbours
  /// @param islands   their workers count as connected
  auditor(std::size_t workers, bool bipartite, step_limit beside, std::size_t masters = 0,
          topology::islands islands = {});

  const std::optional<std::string>& broken() const noexcept { return broken_; }

  void begins(rank who, std::uint32_t incarnation);
  void ends(rank who, std::uint32_t incarnation);
  /// @param crosses whether it goes to another island
  void carried(const frame& f, bool crosses = false);
  void delivered(rank who, const frame& f);
  void dropped_stale(rank who, const frame& f, std::uint64_t t);
  void reports(rank who, const traffic& ledger);
  void adopts(rank who, const view& v);
  void resolves(std::uint32_t node, const consensus::resolution& r);
  void counts(const evaluation_record& r);
  void step_begins(rank who, std::uint64_t t, const view& v);
  void claims_equal(rank who, std::string_view what, std::uint64_t step, const vec& v);
  void claims_conserved(rank who, std::string_view what, std::uint64_t step, const view& v, const vec& before,
                        const vec& after);
  void claims_opposite(rank who, const exchange_half& half, const vec& delta);
  void saves(rank who, std::uint64_t number);
  /// Hears that all parts of this checkpoint are safe: runs may go on from it. Others are given up, whatever they hold.
  void completes(std::uint64_t number);
  void hands_over(rank who, rank heir, const vec& residual);
  void takes_over(rank who, rank from, const vec& residual, const vec& before, const vec& after);
  void recalls(rank who);

  /// Checks, after a run with nothing under way, that no exchange between two living workers is half applied.
  void check_halves();

private:
  struct claim {
    std::uint64_t step;
    std::uint32_t view; ///< of the claim: a view may repeat steps that lost workers did in the view before
    std::string what;

    friend auto operator<=>(const claim&, const claim&) = default;
  };
  struct worker_state {
    bool alive = false;
    std::uint32_t incarnation = 0;
    std::optional<std::uint64_t> step;
    std::set<std::uint64_t> saved;               ///< checkpoints
    std::map<std::uint64_t, std::string> halved; ///< those that it must not save, for the exchange it has done half of
    traffic carried;
    std::unordered_map<rank, std::pair<std::uint32_t, std::uint64_t>> received; // from: incarnation, last sequence

    std::uint64_t last_saved() const { return saved.empty() ? 0 : *saved.rbegin(); }
  };
  struct balance {
    std::set<rank> from;
    std::vector<double> difference;
    double magnitude = 0;
  };
  struct half_done {
    rank by;
    vec delta;
    bool atomic;
    std::uint64_t saved; ///< last checkpoint at that time
  };
  struct bequest {
    rank heir = 0;
    std::uint32_t heir_incarnation = 0;
    vec residual;
    /// The step before which all pause; set once the heir has it. Its giver may not leave earlier: if it is gone then,
    /// it was lost, and so is what it had.
    std::optional<std::uint64_t> arrived_before;
  };
  using exchange = std::tuple<rank, std::uint32_t, rank, std::uint32_t, std::uint64_t>;
  /// The last exchange of each asker, in its incarnation, of which a master has applied its half.
  using halves_of_master = std::map<std::pair<rank, std::uint32_t>, std::uint64_t>;

  void complain(std::string what);
  void check(const view& v);
  void leave_out_others(const view& v);
  bool lives(rank who, std::uint32_t incarnation) const {
    return workers_[who].alive && workers_[who].incarnation == incarnation;
  }
  /// True if the newest view has a life of it; before the first view all are there.
  bool is_member(rank who) const { return views_.empty() || views_.rbegin()->second.contains(who); }
  bool both_live(const exchange& e) const;
  void lie_within_cuts(const half_done& first, rank who, const std::string& about);
  void tear(std::uint64_t checkpoint, const std::string& about);
  bool is_master(rank i) const noexcept { return i >= first_master_; } ///< its actions outlive it, till it `recalls`

  std::size_t first_master_;
  bool bipartite_;
  step_limit beside_;
  topology::islands islands_;
  std::vector<worker_state> workers_;
  std::map<std::uint32_t, view> views_;
  std::map<std::uint32_t, consensus::resolution> resolutions_; // by number
  std::map<claim, std::map<rank, std::uint64_t>> equal_;       // hashes of the living workers' vectors
  std::map<claim, balance> balances_;
  std::map<exchange, half_done> halves_;
  std::map<std::uint64_t, std::string> torn_; ///< checkpoints that have one half of the exchange which is named
  std::set<std::uint64_t> whole_;             ///< those of which all parts are safe
  std::map<rank, halves_of_master> applied_, forgotten_;
  std::map<rank, bequest> handed_over_; // by the worker that leaves
  evaluation_record counted_;           // last
  std::optional<std::string> broken_;
};

} // namespace gossamer::actors
