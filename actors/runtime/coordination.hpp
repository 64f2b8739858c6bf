#pragma once

#include "gossamer/actors/runtime/control.hpp"
#include "gossamer/actors/runtime/membership.hpp"

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
  std::uint64_t left = 0; ///< how many live
};
/// The run is over. The models that came since the last `snapshot_request` are the final ones.
struct end_run {
  run_end why = run_end::planned;
  std::uint64_t unfinished = 0;   ///< workers and masters that were still within a step
  std::vector<rank> missing = {}; ///< who has not sent a model in time
};

/// What is to be done next. `hold_steps`, `decision` and `snapshot_request` are for all who live.
using order = std::variant<hold_steps, decision, snapshot_request, save_checkpoint, start_worker, stop_worker,
                           forget_worker, end_run, run_failed>;
using orders = std::vector<order>;

/// Nobody is left who has the model.
run_failed extinction();

/// What workers and masters agree on, as a state machine without actors, threads and clocks: events in, orders out.
///
///     running  --everybody has finished, or nobody waits any longer-->  collecting  --final models are in-->  over
///              <--a master dies with its model------------------------
///
/// Who is there (`membership`), and how many steps are done, are changed by all together. In a synchronous run all are
/// told to hold and say which step they are in; when all have answered, a decision says where the change happens. Who
/// dies before it has answered is not waited for: the question is asked again. An asynchronous run decides at once.
///
/// A run that was stopped ends, whatever becomes of its workers: ten seconds later it does not wait for steps any more,
/// after one more it does without the models that are missing, and if those are needed it fails after another nine.
///
/// A value: it can be copied, compared by its bytes, saved and sent. Threads: as a value.
class coordination {
public:
  /// The evaluation that its first `snapshot_request` is for; a later one has a higher number.
  static constexpr std::uint64_t first_final = std::uint64_t{1} << 63;

  /// View 1, in which everybody is there. @param e outlives this object
  /// @param checkpoint from which the run goes on; 0: it begins
  explicit coordination(const experiment& e, std::uint64_t checkpoint = 0);

  orders on(const run_progress& m); ///< of all workers; needed in asynchronous runs, which it ends
  orders on(const holding& m);
  orders on(const worker_joined& m);
  orders on(const worker_finished& m);
  orders on(const worker_lost& m);
  orders on(const kill_worker& m);
  orders on(const restart_worker& m);
  orders on(const model_came& m);
  orders on(const checkpoint_due& m);
  orders on(const stop_run& m);
  orders on(const time_is& m);

  bool over() const noexcept { return phase_ == phase::over; }
  bool running() const noexcept { return phase_ == phase::running; }
  /// Whether this model is one of the final ones, and has not come yet.
  bool awaits(const model_came& m) const;
  /// False, too, for a rank that there is not: other processes are not trusted.
  bool is_current(rank i, std::uint32_t life) const {
    return i < run_->participants() && members_.alive(i) && members_.incarnation(i) == life;
  }
  const membership& members() const noexcept { return members_; }
  /// The view that a decision speaks of.
  std::shared_ptr<const view> view_of(const view_change& change) { return members_.view_of(change); }

  /// So far: deaths that were noticed, workers that were started anew, changes of who is there.
  std::uint64_t lost() const noexcept { return lost_; }
  std::uint64_t returned() const noexcept { return returned_; }
  std::uint64_t views() const noexcept { return last_.view.number - 1; }

  void fields(archive& a);

private:
  enum class phase : std::uint8_t { running, collecting, over };

  bool is_master(rank i) const { return i >= run_->settings.workers; }
  bool models_suffice() const;
  void lose(rank i, orders& out);
  void start(rank i, orders& out);
  bool revive_masters(orders& out);
  void go_on_without(rank i, orders& out);
  void hold(orders& out);
  void decide(orders& out);
  void change_view(orders& out);
  void change_view_at_once(orders& out);
  void collect_when_finished(orders& out);
  void collect(orders& out);
  void end(orders& out);
  void fail(run_failed why, orders& out);

  const experiment* run_;
  membership members_;
  decision last_;
  phase phase_ = phase::running;
  std::set<rank> finished_;
  std::set<rank> away_; // killed by a fault plan, which will bring them back

  bool stopping_ = false; // no more steps than are under way
  run_end why_ = run_end::planned;
  run_end hurry_ = run_end::planned; // the time or the user, who do not wait for ever,
  double since_s_ = 0;               // since this moment; then, since that when steps were given up
  bool given_up_ = false;

  bool saving_ = false;      // when all have answered
  std::uint64_t checkpoint_; // the last that was ordered, where steps do not number them

  std::uint64_t collections_ = 0;
  std::set<rank> awaited_, came_; // of the present collection
  std::uint64_t lost_ = 0, returned_ = 0;
};

} // namespace gossamer::actors
