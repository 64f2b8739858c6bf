#include "gossamer/actors/runtime/coordinator.hpp"

#include "gossamer/actors/runtime/coordination.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/runtime/progress_meter.hpp"
#include "gossamer/actors/runtime/snapshot_round.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::actors {

namespace {

constexpr auto tick_interval = std::chrono::milliseconds(100);

using seconds = std::chrono::duration<double>;

/// Turns messages into events of the coordination, and its orders into messages; counts; evaluates.
class coordinator_state {
public:
  coordinator_state() = default;
  coordinator_state(const coordinator_state&) = delete;
  coordinator_state& operator=(const coordinator_state&) = delete;
  ~coordinator_state() { // however the run ends, its actors end with it
    if (evaluator_)
      caf::anon_send_exit(evaluator_, caf::exit_reason::user_shutdown);
    for (const auto& worker : workers_)
      caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
  }

  void open(caf::event_based_actor* self, coordinator_setup plan) {
    self_ = self;
    plan_ = std::move(plan);
    const auto& run = *plan_.run;
    coordination_.emplace(run);
    progress_.emplace(run);
    known_view_ = run.everybody->number;
    summary_.algorithm = run.algorithm->about.name;
    summary_.workers = workers();
    summary_.seed = run.settings.seed;
    summary_.steps_per_worker.assign(workers(), 0);
    next_evaluation_ = run.evaluation_steps * workers();
    updates_seen_.assign(workers(), 0);
    workers_.resize(run.participants());
    roster_.incarnations.resize(run.participants());
    roster_.present.resize(run.participants());
  }

  void start() {
    began_ = self_->clock().now();
    evaluator_ = plan_.spawn_evaluator(self_);
    self_->monitor(evaluator_);
    for (rank i = 0; i < workers_.size(); ++i)
      spawn(i, 0);
    tell_workers(meet_peers{shared_roster()});
    tell_workers(start_run{});
    self_->delayed_send(self_, tick_interval, tick{});
  }

  // -- steps and evaluations ------------------------------------------------------------------------------------------

  void on_step(const step_report& r) {
    if (!coordination_->is_current(r.source, r.incarnation))
      return;
    if (plan_.steps_to)
      self_->send(plan_.steps_to, r);
    progress_->count(r);
    summary_.stale_frames += r.stale_frames;
    if (plan_.run->algorithm->traits.synchronous)
      return;
    const auto updates = progress_->updates();
    const auto read_at = std::exchange(updates_seen_[r.source], updates);
    if (plan_.run->algorithm->traits.exchange == exchange_pattern::bipartite)
      on_applied({updates - 1 - read_at});
    if (progress_->worth_announcing())
      tell_workers(run_progress{updates});
    on(run_progress{updates});
    if (updates >= next_evaluation_ && coordination_->running() && collecting_.empty() && !near_the_end())
      request_snapshots(updates);
  }

  void on_applied(const gradient_applied& m) { ++summary_.staleness[m.staleness]; }

  void on_joined(const worker_joined& m) {
    if (coordination_->is_current(m.source, m.incarnation))
      updates_seen_[m.source] = progress_->updates();
    on(m);
  }

  void on_snapshot(snapshot& s) {
    if (!coordination_->is_current(s.source, s.incarnation))
      return;
    if (s.evaluation >= coordination::first_final) {
      const model_came news{s.source, s.incarnation, s.evaluation};
      if (coordination_->awaits(news))
        final_snapshots_.push_back(std::move(s));
      return on(news);
    }
    if (coordination_->over() || collecting_.is_late(s))
      return;
    auto& round = collect(s.evaluation);
    round.add(std::move(s));
    evaluate_what_is_complete();
  }

  void on_evaluation(const evaluation_record& record) {
    --evaluating_;
    last_record_ = record;
    if (plan_.observer)
      plan_.observer->on_evaluation(record);
    if (!std::isfinite(record.train_loss) || !std::isfinite(record.consensus_distance)) {
      fail({errc::diverged,
            fmt::format("training diverged: at epoch {:.3g} the training loss is {} and the models are {} apart",
                        record.epoch, record.train_loss, record.consensus_distance),
            "lower --lr, or the momentum of --optimiser"});
    } else if (coordination_->over() && evaluating_ == 0) {
      summarise();
      self_->send(plan_.client, summary_);
      self_->quit();
    }
  }

  void on_tick() {
    self_->delayed_send(self_, tick_interval, tick{});
    const auto now = elapsed();
    const auto& limit = plan_.run->settings.seconds;
    if (plan_.interrupted && plan_.interrupted())
      on(stop_run{run_end::interrupted, now});
    else if (limit && now >= *limit)
      on(stop_run{run_end::seconds, now});
    on(time_is{now});
    if (plan_.observer)
      plan_.observer->on_progress(progress_->at(now, last_record_.test_accuracy));
  }

  // -- who is there ---------------------------------------------------------------------------------------------------

  /// An event of the coordination, and what follows from it.
  template <class Event>
  void on(const Event& event) {
    for (const auto& what : coordination_->on(event))
      std::visit([&](const auto& one) { obey(one); }, what);
  }

  void on_down(const caf::down_msg& down) {
    for (rank i = 0; i < workers_.size(); ++i)
      if (workers_[i].address() == down.source && roster_.present[i]) {
        const worker_lost loss{i, roster_.incarnations[i]};
        if (plan_.detection.count() == 0)
          on(loss);
        else
          self_->delayed_send(self_, plan_.detection, loss);
        return;
      }
    if (evaluator_.address() == down.source)
      fail({errc::failed, "the evaluation died: " + to_string(down.reason), {}});
  }

  void pause(const pause_worker& m) {
    m.paused ? self_->send(workers_[m.who], pause_work{}) : self_->send(workers_[m.who], resume_work{});
  }

  void tell_observer(const std::string& what) {
    if (plan_.observer)
      plan_.observer->on_event(elapsed(), what);
  }

  void fail(const run_failed& failure) {
    self_->send(plan_.client, failure);
    self_->quit();
  }

private:
  std::size_t workers() const { return plan_.run->settings.workers; }
  /// The final evaluation follows so soon that another before it would say nothing new.
  bool near_the_end() const { return progress_->left() <= plan_.run->evaluation_steps * workers() / 2; }
  double elapsed() const { return seconds{self_->clock().now() - began_}.count(); }
  std::shared_ptr<const roster> shared_roster() const { return std::make_shared<const roster>(roster_); }

  template <class Message>
  void tell_workers(const Message& m) {
    for (const auto i : coordination_->members().living())
      self_->send(workers_[i], m);
  }

  void spawn(rank i, std::uint32_t incarnation) {
    workers_[i] = plan_.spawn_worker(i, incarnation, self_);
    roster_.incarnations[i] = incarnation;
    roster_.present[i] = true;
    self_->monitor(workers_[i]);
  }

  // -- orders ---------------------------------------------------------------------------------------------------------

  void obey(const hold_steps& m) { tell_workers(m); }

  void obey(const decision& m) {
    if (std::exchange(known_view_, m.view.number) == m.view.number)
      tell_workers(proceed_with{nullptr, nullptr, m.limit});
    else
      tell_workers(proceed_with{coordination_->view_of(m.view), shared_roster(), m.limit});
  }

  void obey(const snapshot_request& m) {
    final_snapshots_.clear();
    tell_workers(m);
  }

  void obey(const start_worker& m) {
    progress_->ledger().close(m.who, m.incarnation - 1);
    spawn(m.who, m.incarnation);
    self_->send(workers_[m.who], start_run{});
    tell_observer(fmt::format("{} comes back", plan_.run->name_of(m.who)));
  }

  void obey(const stop_worker& m) { caf::anon_send_exit(workers_[m.who], caf::exit_reason::kill); }

  void obey(const forget_worker& m) {
    roster_.present[m.who] = false;
    progress_->ledger().close(m.who, roster_.incarnations[m.who]);
    collecting_.forget(m.who);
    tell_observer(fmt::format("{} is lost; {} go on", plan_.run->name_of(m.who), m.left));
    evaluate_what_is_complete();
  }

  void obey(const end_run& m) {
    for (const auto i : m.missing)
      tell_observer(fmt::format("{} does not answer; its model is left out", plan_.run->name_of(i)));
    summary_.end = m.why;
    summary_.unfinished = m.unfinished;
    std::ranges::sort(final_snapshots_, {}, &snapshot::source);
    const bool possible = evaluate(progress_->ledger(), std::move(final_snapshots_));
    GOSSAMER_ASSERT(possible, "the coordination ends a run when the models are there");
  }

  void obey(const run_failed& m) { fail(m); }

  // -- evaluations ----------------------------------------------------------------------------------------------------

  snapshot_round& collect(std::uint64_t evaluation) {
    return collecting_.open(evaluation, [this] { return coordination_->members().who_is_ready(); });
  }

  void request_snapshots(std::uint64_t evaluation) {
    collect(evaluation);
    tell_workers(snapshot_request{evaluation});
  }

  void evaluate_what_is_complete() {
    if (auto complete = collecting_.take_complete()) {
      auto seen = progress_->ledger(); // by the models: the coordinator's own count runs behind
      evaluate(seen, complete->second.take());
    }
  }

  /// @returns false when those with the models have died meanwhile
  bool evaluate(ledger& seen, std::vector<snapshot> snapshots) {
    auto job = evaluation_of(*plan_.run, seen, std::move(snapshots), elapsed());
    if (!job)
      return false;
    next_evaluation_ = job->record.step + plan_.run->evaluation_steps * workers();
    ++evaluating_;
    self_->send(evaluator_, std::move(*job));
    return true;
  }

  void summarise() {
    summary_.final = last_record_;
    for (rank i = 0; i < workers(); ++i)
      summary_.steps_per_worker[i] = progress_->ledger().steps(i);
    summary_.lost = coordination_->lost();
    summary_.returned = coordination_->returned();
    summary_.views = coordination_->views();
  }

  caf::event_based_actor* self_ = nullptr;
  coordinator_setup plan_;
  roster roster_;
  std::vector<caf::actor> workers_; // and masters, by rank
  caf::actor evaluator_;
  std::optional<coordination> coordination_;
  std::uint32_t known_view_ = 0; // by the workers
  caf::actor_clock::time_point began_;

  std::optional<progress_meter> progress_;
  std::vector<std::uint64_t> updates_seen_; // by each worker, when it last read its model: with its last report
  run_summary summary_;

  std::uint64_t next_evaluation_ = 0;
  snapshot_rounds collecting_;
  std::size_t evaluating_ = 0;
  evaluation_record last_record_;
  std::vector<snapshot> final_snapshots_;
};

caf::behavior coordinator_actor(caf::stateful_actor<coordinator_state>* self, const coordinator_setup& plan) {
  auto& state = self->state;
  report_exceptions_to(self, plan.client, "the coordinator");
  state.open(self, plan);
  self->set_down_handler([&state](caf::down_msg& down) { state.on_down(down); });
  return {
      [&state](start_run) { state.start(); },
      [&state](const step_report& r) { state.on_step(r); },
      [&state](const gradient_applied& m) { state.on_applied(m); },
      [&state](snapshot& s) { state.on_snapshot(s); },
      [&state](const worker_finished& f) { state.on(f); },
      [&state](const evaluation_record& r) { state.on_evaluation(r); },
      [&state](const holding& h) { state.on(h); },
      [&state](const worker_joined& m) { state.on_joined(m); },
      [&state](const worker_lost& m) { state.on(m); },
      [&state](const kill_worker& m) { state.on(m); },
      [&state](const restart_worker& m) { state.on(m); },
      [&state](const pause_worker& m) { state.pause(m); },
      [&state](const run_event& m) { state.tell_observer(m.what); },
      [&state](tick) { state.on_tick(); },
      [&state](const run_failed& failure) { state.fail(failure); },
  };
}

} // namespace

caf::actor spawn_coordinator(caf::actor_system& system, coordinator_setup plan) {
  return system.spawn(coordinator_actor, std::move(plan));
}

} // namespace gossamer::actors
