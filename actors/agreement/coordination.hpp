#pragma once

#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/actors/agreement/membership.hpp"

#include <set>
#include <variant>
#include <vector>

namespace gossamer::actors {

// -- events that are no control messages ------------------------------------------------------------------------------

/// The run shall end now, after the steps that are under way.
struct stop_run {
  run_end why = run_end::interrupted;
  double now_s = 0;
};
/// The time, told several times a second.
struct time_is {
  double now_s = 0;
};
/// An answer to a `snapshot_request` that was an order.
struct model_came {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t evaluation = 0;
};

/// It is time for a checkpoint.
struct checkpoint_due {};

// -- orders that are no control messages ------------------------------------------------------------------------------

/// A life is over: nothing more is to be expected of it.
struct forget_worker {
  rank who = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t left = 0; ///< number of workers that live
  bool retired = false;   ///< it left because it was told to
};
/// A later life has begun.
struct welcome_worker {
  rank who = 0;
  std::uint32_t incarnation = 0;
};
/// The run is over. The models that came since the last `snapshot_request` are the final ones.
struct end_run {
  run_end why = run_end::planned;
  std::uint64_t unfinished = 0;   ///< workers and masters that were still within a step
  std::vector<rank> missing = {}; ///< ranks that have not sent a model in time
};

/// The failure of a run in which no worker with the model is left.
run_failed extinction();

/// The leader's care for the run: it tracks the workers that have finished, decides when the run is over, has
/// checkpoints made, and collects the final models. A state machine without actors, threads and clocks: events in,
/// orders out.
///
///     running  --all workers have finished, or the wait is over--------->  collecting  --final models are in-->  over
///              <--a master dies with its model------------------------
///
/// All nodes agree on the members and on the number of steps (`consensus::delegate`): this class asks for it (`wish`),
/// and hears of it (`resolution`). When the leader dies, the next one begins with the last resolution, and all nodes
/// repeat what it must know: the workers that have finished, and those that are lost.
///
/// A run that was stopped ends, whatever becomes of its workers: after ten seconds it no longer waits for steps, after
/// one more it does without missing models, and if those are needed it fails after another nine. A run that has had
/// fewer workers than `--min-workers` for half a minute fails.
///
/// A value: it can be copied, compared by its bytes, saved and read back. Threads: as a value.
class coordination {
public:
  /// Evaluations numbered from here on are for final models. A later `snapshot_request` has a higher number, even under
  /// a later leader.
  static constexpr std::uint64_t first_final = std::uint64_t{1} << 63;

  /// Returns the last number of a checkpoint that a leader before this one may have ordered: 0 of a synchronous run,
  /// whose numbers are those of steps.
  /// @param leader number of the resolution by which it leads
  static std::uint64_t checkpoints_before(const experiment& e, std::uint32_t leader);

  using order = std::variant<consensus::wish, snapshot_request, save_checkpoint, restart_worker, forget_worker,
                             welcome_worker, end_run, run_failed>;
  using orders = std::vector<order>;

  /// @param e outlives this object
  /// @param last the resolution by which this process leads
  coordination(const experiment& e, const consensus::resolution& last);

  /// Reports lives that ended or began between `before`, the last decision under the former leader, and the resolution
  /// that made this process the leader. No other process has taken note of them.
  orders take_over(const decision& before);
  orders on(const consensus::resolution& next);
  orders on(const consensus::models_are_lost& m);
  orders on(const run_progress& m); ///< counts all workers; needed in asynchronous runs, which it ends
  orders on(const worker_joined& m);
  orders on(const worker_paused& m);
  orders on(const worker_finished& m);
  orders on(const worker_lost& m);
  orders on(const worker_waits& m);
  orders on(const model_came& m);
  orders on(const checkpoint_due& m);
  orders on(const stop_run& m);
  orders on(const time_is& m);

  bool over() const noexcept { return phase_ == phase::over; }
  bool running() const noexcept { return phase_ == phase::running; }
  /// True if this model is one of the final ones, and has not come yet.
  bool awaits(const model_came& m) const;
  const membership& members() const noexcept { return members_; }

  /// Number of changes of the view in the whole run.
  std::uint64_t views() const noexcept { return last_.what.view.number - 1; }
  /// Waits no more for ranks of lost processes to be started anew: a later process of their node says so again.
  template <class Condition>
  void forget_waiting(Condition is_lost) {
    std::erase_if(waiting_, is_lost);
  }

  void fields(archive& a);

private:
  enum class phase : std::uint8_t { running, collecting, over };

  bool is_master(rank i) const { return run_->is_master(i); }
  bool synchronous() const { return run_->algorithm->traits.synchronous; }
  bool models_suffice() const;
  bool is_unmet() const;
  bool names_the_dead() const { return running() && members_.names_the_dead(); }
  std::vector<rank> follow(const view_change& next, orders& out);
  bool have_paused() const;
  void wish(const consensus::wish& what, orders& out);
  void lose(rank i, bool left, orders& out);
  void go_on_without(rank i, orders& out);
  void revive_masters(orders& out) const;
  void collect_when_finished(orders& out);
  void collect(orders& out);
  void end(orders& out);
  void fail(run_failed why, orders& out);
  run_failed missing_models() const;
  std::size_t workers_left() const;
  void look_for_shortage(orders& out);

  const experiment* run_;
  consensus::resolution last_;
  membership members_;
  phase phase_ = phase::running;
  std::set<rank> finished_;
  std::set<rank> paused_;  // as the last resolution says
  std::set<rank> waiting_; // to be started anew

  bool stopping_ = false; // no more steps than are under way
  run_end why_ = run_end::planned;
  run_end hurry_ = run_end::planned; // why the run is stopped early, with limited waits
  double since_s_ = -1; // begin of the present wait: the stop, later the moment when steps were given up; -1: not known
  bool given_up_ = false;
  double now_s_ = 0, wished_s_ = 0;
  double enough_s_ = 0; // last moment with as many workers as there must be

  // Number of the last one ordered, where steps do not number them. No two leaders order the same.
  std::uint64_t checkpoint_;

  std::uint64_t collection_;      // number of the next one
  std::set<rank> awaited_, came_; // ranks of the present collection
  std::set<rank> unfinished_;     // when it began; a worker that comes back afterwards has nothing left to take part in
  bool models_are_lost_ = false;  // those of all workers, since the last resolution
};

} // namespace gossamer::actors
