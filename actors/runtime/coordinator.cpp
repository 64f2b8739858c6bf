#include "gossamer/actors/runtime/coordinator.hpp"

#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/runtime/ledger.hpp"
#include "gossamer/actors/runtime/membership.hpp"
#include "gossamer/actors/runtime/snapshot_round.hpp"

#include <cmath>
#include <fmt/format.h>

namespace gossamer::actors {

namespace {

constexpr auto tick_interval = std::chrono::milliseconds(100);
constexpr double loss_memory = 0.95;              // share of the smoothed loss that is kept per report
constexpr std::uint64_t broadcasts_per_run = 200; // of the global progress, for asynchronous schedules
constexpr double longest_wait_for_the_end_s = 10;
constexpr auto last_evaluation = std::numeric_limits<std::uint64_t>::max();

using seconds = std::chrono::duration<double>;

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
    synchronous_ = run.algorithm->traits.synchronous;
    members_.emplace(run);
    limit_ = synchronous_ ? run.steps_per_worker : planned_updates();
    summary_.algorithm = run.algorithm->about.name;
    summary_.workers = workers();
    summary_.seed = run.settings.seed;
    summary_.steps_per_worker.assign(workers(), 0);
    next_evaluation_ = run.evaluation_steps * workers();
    updates_seen_.assign(workers(), 0);
    ledger_ = ledger{participants()};
    broadcast_every_ = std::max<std::uint64_t>(workers(), planned_updates() / broadcasts_per_run);
  }

  void start() {
    began_ = self_->clock().now();
    evaluator_ = plan_.spawn_evaluator(self_);
    self_->monitor(evaluator_);
    for (rank i = 0; i < participants(); ++i)
      spawn(i, 0);
    tell_workers(meet_peers{shared_roster()});
    tell_workers(start_run{});
    self_->delayed_send(self_, tick_interval, tick{});
  }

  // -- steps and evaluations ------------------------------------------------------------------------------------------

  void on_step(const step_report& r) {
    if (!is_current(r.source, r.incarnation))
      return;
    if (plan_.steps_to)
      self_->send(plan_.steps_to, r);
    ++updates_;
    ledger_.record(r.source, r.step, r.sent);
    smoothed_loss_ = updates_ == 1 ? r.loss : loss_memory * smoothed_loss_ + (1 - loss_memory) * r.loss;
    if (synchronous_)
      return;
    // The worker read its model when it had reported its previous step: the updates in between are the staleness.
    ++summary_.staleness[updates_ - 1 - std::exchange(updates_seen_[r.source], updates_)];
    if (updates_ % broadcast_every_ == 0)
      tell_workers(run_progress{updates_});
    if (updates_ >= planned_updates())
      stop(run_end::planned);
    else if (updates_ >= next_evaluation_ && collecting_.empty() && !near_the_end())
      request_snapshots(updates_);
  }

  void on_snapshot(snapshot& s) {
    if (!is_current(s.source, s.incarnation) || collecting_.is_late(s))
      return;
    collect(s.evaluation).add(std::move(s));
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
    } else if (closed_ && evaluating_ == 0) {
      summary_.final = record;
      for (rank i = 0; i < workers(); ++i)
        summary_.steps_per_worker[i] = ledger_.steps(i);
      self_->send(plan_.client, summary_);
      self_->quit();
    }
  }

  void on_tick() {
    self_->delayed_send(self_, tick_interval, tick{});
    const auto& limit = plan_.run->settings.seconds;
    if (plan_.interrupted && plan_.interrupted())
      stop(run_end::interrupted);
    else if (limit && elapsed() >= *limit)
      stop(run_end::seconds);
    close_when_finished();
    if (plan_.observer)
      plan_.observer->on_progress(progress());
  }

  // -- who is there ---------------------------------------------------------------------------------------------------

  void on_down(const caf::down_msg& down) {
    for (rank i = 0; i < workers_.size(); ++i)
      if (workers_[i].address() == down.source && members_->alive(i)) {
        const worker_lost loss{i, members_->incarnation(i)};
        if (plan_.detection.count() == 0)
          on_loss(loss);
        else
          self_->delayed_send(self_, plan_.detection, loss);
        return;
      }
    if (evaluator_.address() == down.source)
      fail({errc::failed, "the evaluation died: " + to_string(down.reason), {}});
  }

  void on_loss(const worker_lost& m) {
    if (!is_current(m.who, m.incarnation))
      return;
    members_->lose(m.who);
    roster_.present[m.who] = false;
    ++summary_.lost;
    finished_.erase(m.who);
    ledger_.close(m.who);
    collecting_.forget(m.who);
    tell_observer(fmt::format("{} is lost; {} go on", plan_.run->name_of(m.who), members_->population()));
    if (!members_->anybody_ready())
      return fail({errc::failed, "every worker that had the model has died", "a run goes on while one of them lives"});
    change_view();
    evaluate_what_is_complete();
    if (m.who >= workers() && !away_.contains(m.who))
      restart({m.who}); // nobody can take a master's place
    close_when_finished();
  }

  void kill(const kill_worker& m) {
    if (m.comes_back)
      away_.insert(m.who);
    caf::anon_send_exit(workers_[m.who], caf::exit_reason::kill);
  }

  void restart(const restart_worker& m) {
    if (closing_)
      return;                     // there is nothing left to take part in
    if (members_->alive(m.who)) { // its death has not been noticed, or it is not dead at all
      caf::anon_send_exit(workers_[m.who], caf::exit_reason::kill);
      on_loss({m.who, members_->incarnation(m.who)});
    }
    away_.erase(m.who);
    ++summary_.returned;
    tell_observer(fmt::format("{} comes back", plan_.run->name_of(m.who)));
    start_anew(m.who);
    change_view();
  }

  void pause(const pause_worker& m) {
    m.paused ? self_->send(workers_[m.who], pause_work{}) : self_->send(workers_[m.who], resume_work{});
  }

  void on_joined(const worker_joined& m) {
    if (is_current(m.source, m.incarnation))
      members_->joined(m.source, m.step);
  }

  void on_holding(const holding& m) {
    if (!is_current(m.source, m.incarnation) || !members_->answer(m.source, m.round, m.step, m.next_exchange))
      return;
    if (stopping_)
      limit_ = std::min(limit_, members_->last_step() + 1);
    if (!members_->changed()) {
      tell_workers(proceed_with{nullptr, nullptr, limit_});
      return;
    }
    const auto stranded = members_->stranded();
    for (const auto i : stranded)
      start_anew(i);
    if (stranded.empty())
      proceed();
    else
      hold();
  }

  void on_finished(const worker_finished& m) {
    if (!is_current(m.source, m.incarnation))
      return;
    finished_.insert(m.source);
    close_when_finished();
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
  std::size_t participants() const { return plan_.run->participants(); }
  std::uint64_t planned_updates() const { return plan_.run->steps_per_worker * workers(); }
  /// The final evaluation follows so soon that another before it would say nothing new.
  bool near_the_end() const { return planned_updates() - updates_ <= plan_.run->evaluation_steps * workers() / 2; }
  double elapsed() const { return seconds{self_->clock().now() - began_}.count(); }
  bool is_current(rank i, std::uint32_t incarnation) const {
    return members_->alive(i) && members_->incarnation(i) == incarnation;
  }
  std::shared_ptr<const roster> shared_roster() const { return std::make_shared<const roster>(roster_); }

  template <class Message>
  void tell_workers(const Message& m) {
    for (const auto i : members_->living())
      self_->send(workers_[i], m);
  }

  void spawn(rank i, std::uint32_t incarnation) {
    workers_.resize(participants());
    roster_.incarnations.resize(participants());
    roster_.present.resize(participants());
    workers_[i] = plan_.spawn_worker(i, incarnation, self_);
    roster_.incarnations[i] = incarnation;
    roster_.present[i] = true;
    self_->monitor(workers_[i]);
  }

  void start_anew(rank i) {
    if (members_->alive(i))
      caf::anon_send_exit(workers_[i], caf::exit_reason::kill);
    spawn(i, members_->start(i));
    self_->send(workers_[i], start_run{});
  }

  // -- changes that all make together ---------------------------------------------------------------------------------

  void hold() { tell_workers(hold_steps{members_->ask()}); }

  void proceed() {
    ++summary_.views;
    tell_workers(proceed_with{members_->next_view(limit_), shared_roster(), limit_});
  }

  void change_view() {
    if (!closed_)
      synchronous_ ? hold() : proceed();
  }

  void stop(run_end why) {
    if (stopping_)
      return;
    stopping_ = true;
    stopped_at_s_ = elapsed();
    summary_.end = why;
    synchronous_ ? hold() : tell_workers(proceed_with{nullptr, nullptr, limit_ = 0});
  }

  /// When nobody does anything any more, the models are final: no exchange is under way. A run that was stopped does
  /// not wait for ever, e.g. for a frame that a partition keeps back.
  void close_when_finished() {
    const bool given_up =
        stopping_ && summary_.end != run_end::planned && elapsed() > stopped_at_s_ + longest_wait_for_the_end_s;
    if (closing_ || !members_->masters_live() || (finished_.size() != members_->population() && !given_up))
      return;
    summary_.unfinished = members_->population() - finished_.size();
    closing_ = true;
    request_snapshots(last_evaluation);
  }

  // -- evaluations ----------------------------------------------------------------------------------------------------

  snapshot_round& collect(std::uint64_t evaluation) {
    return collecting_.open(evaluation, [this] { return members_->who_is_ready(); });
  }

  void request_snapshots(std::uint64_t evaluation) {
    collect(evaluation);
    tell_workers(snapshot_request{evaluation});
  }

  void evaluate_what_is_complete() {
    if (auto complete = collecting_.take_complete()) {
      closed_ = complete->first == last_evaluation;
      evaluate(complete->second);
    }
  }

  void evaluate(snapshot_round& c) {
    auto seen = ledger_; // by the models: the coordinator's own count runs behind
    auto job = evaluation_of(*plan_.run, seen, c.take(), elapsed());
    if (!job) { // those with the models have died meanwhile
      if (std::exchange(closed_, false))
        closing_ = false;
      return;
    }
    next_evaluation_ = job->record.step + plan_.run->evaluation_steps * workers();
    if (closed_)
      ledger_ = std::move(seen);
    ++evaluating_;
    self_->send(evaluator_, std::move(*job));
  }

  progress_record progress() const {
    progress_record p;
    p.time_s = elapsed();
    p.epoch = plan_.run->epoch_of(updates_);
    p.planned_epochs = plan_.run->planned_epochs;
    p.loss = smoothed_loss_;
    p.accuracy = last_record_.test_accuracy;
    p.steps_per_second = static_cast<double>(updates_) / p.time_s;
    p.bits_per_second = static_cast<double>(ledger_.sent().payload_bits) / p.time_s;
    const auto left = planned_updates() - std::min(updates_, planned_updates());
    p.remaining_s = static_cast<double>(left) / p.steps_per_second;
    if (const auto& limit = plan_.run->settings.seconds)
      p.remaining_s = std::min(p.remaining_s, *limit - p.time_s);
    return p;
  }

  caf::event_based_actor* self_ = nullptr;
  coordinator_setup plan_;
  bool synchronous_ = true;
  roster roster_;
  std::vector<caf::actor> workers_; // and masters, by rank
  caf::actor evaluator_;
  std::optional<membership> members_;
  caf::actor_clock::time_point began_;

  run_summary summary_;
  std::uint64_t updates_ = 0;
  std::vector<std::uint64_t> updates_seen_; // by each worker, when it last read its model
  ledger ledger_;
  double smoothed_loss_ = 0;
  std::uint64_t broadcast_every_ = 1;

  std::uint64_t next_evaluation_ = 0;
  snapshot_rounds collecting_;
  std::size_t evaluating_ = 0;
  evaluation_record last_record_;

  std::uint64_t limit_ = 0; // of each worker's steps
  bool stopping_ = false;
  double stopped_at_s_ = 0;
  std::set<rank> finished_;
  std::set<rank> away_;  // killed by a fault plan, which will bring them back
  bool closing_ = false; // all have finished; final models are on their way,
  bool closed_ = false;  // and here
};

caf::behavior coordinator_actor(caf::stateful_actor<coordinator_state>* self, const coordinator_setup& plan) {
  auto& state = self->state;
  report_exceptions_to(self, plan.client, "the coordinator");
  state.open(self, plan);
  self->set_down_handler([&state](caf::down_msg& down) { state.on_down(down); });
  return {
      [&state](start_run) { state.start(); },
      [&state](const step_report& r) { state.on_step(r); },
      [&state](snapshot& s) { state.on_snapshot(s); },
      [&state](const worker_finished& f) { state.on_finished(f); },
      [&state](const evaluation_record& r) { state.on_evaluation(r); },
      [&state](const holding& h) { state.on_holding(h); },
      [&state](const worker_joined& m) { state.on_joined(m); },
      [&state](const worker_lost& m) { state.on_loss(m); },
      [&state](const kill_worker& m) { state.kill(m); },
      [&state](const restart_worker& m) { state.restart(m); },
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
