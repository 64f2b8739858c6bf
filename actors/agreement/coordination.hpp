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
  std::uint64_t left = 0; ///< how many workers live
  bool retired = false;   ///< as it was to
};
/// A later life has begun.
struct welcome_worker {
  rank who = 0;
};
/// The run is over. The models that came since the last `snapshot_request` are the final ones.
struct end_run {
  run_end why = run_end::planned;
  std::uint64_t unfinished = 0;   ///< workers and masters that were still within a step
  std::vector<rank> missing = {}; ///< who has not sent a model in time
};

/// Nobody is left who has the model.
run_failed extinction();

/// What whoever leads does besides: it follows who has finished, decides when the run is over, has checkpoints
/// made, and collects the final models. A state machine without actors, threads and clocks: events in, orders out.
///
///     running  --everybody has finished, or nobody waits any longer-->  collecting  --final models are in-->  over
///              <--a master dies with its model------------------------
///
/// Who takes part, and how many steps are done, all nodes agree on (`consensus::delegate`): this asks for it (`wish`),
/// and hears of it (`resolution`). When the leader dies, the next one begins with what the last resolution says, and
/// all nodes tell it again what it must know: who has finished, who is lost.
///
/// A run that was stopped ends, whatever becomes of its workers: ten seconds later it does not wait for steps any more,
/// after one more it does without the models that are missing, and if those are needed it fails after another nine.
/// One in which fewer workers have been left for half a minute than there must be (`--min-workers`) fails.
///
/// A value: it can be copied, compared by its bytes, saved and read back. Threads: as a value.
class coordination {
public:
  /// Numbers of evaluations from here on are for final models. A later `snapshot_request` has a higher one, also under
  /// a later leader.
  static constexpr std::uint64_t first_final = std::uint64_t{1} << 63;

  using order = std::variant<consensus::wish, snapshot_request, save_checkpoint, restart_worker, forget_worker,
                             welcome_worker, end_run, run_failed>;
  using orders = std::vector<order>;

  /// @param e outlives this object
  /// @param last by which this process leads
  /// @param checkpoint the newest that was ordered; 0: none
  coordination(const experiment& e, const consensus::resolution& last, std::uint64_t checkpoint = 0);

  /// Who was there under the leader before, and is not, or in another life, by the resolution that gave this one the
  /// leader: nobody else has taken note of it.
  orders take_over(const decision& before);
  orders on(const consensus::resolution& next);
  orders on(const consensus::models_are_lost& m);
  orders on(const run_progress& m); ///< of all workers; needed in asynchronous runs, which it ends
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
  /// Whether this model is one of the final ones, and has not come yet.
  bool awaits(const model_came& m) const;
  const membership& members() const noexcept { return members_; }

  /// So far, under this leader: deaths that were noticed, workers that were started anew.
  std::uint64_t lost() const noexcept { return lost_; }
  std::uint64_t returned() const noexcept { return returned_; }
  /// Changes of who is there, of the whole run.
  std::uint64_t views() const noexcept { return last_.what.view.number - 1; }
  /// The newest checkpoint that was ordered where steps do not number them.
  std::uint64_t checkpoint() const noexcept { return checkpoint_; }
  void ordered_before(std::uint64_t checkpoint) { checkpoint_ = std::max(checkpoint_, checkpoint); }

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
  run_end hurry_ = run_end::planned; // the time or the user, who do not wait for ever,
  double since_s_ = 0;               // since this moment; then, since that when steps were given up
  bool given_up_ = false;
  double now_s_ = 0, wished_s_ = 0;
  double enough_s_ = 0; // when there were last as many workers as there must be

  std::uint64_t checkpoint_; // the last that was ordered, where steps do not number them

  std::uint64_t collection_;      // the number of the next one
  std::set<rank> awaited_, came_; // of the present collection
  std::set<rank> unfinished_;     // when it began: who comes back afterwards has nothing left to take part in
  bool models_are_lost_ = false;  // of all workers, since the last resolution
  std::uint64_t lost_ = 0, returned_ = 0;
};

} // namespace gossamer::actors
