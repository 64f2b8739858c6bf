#include "gossamer/actors/runtime/coordinator.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::actors {

namespace {

constexpr auto tick_interval = std::chrono::milliseconds(100);
constexpr double loss_memory = 0.95;              // share of the smoothed loss that is kept per report
constexpr std::uint64_t broadcasts_per_run = 200; // of the global progress, for asynchronous schedules

using seconds = std::chrono::duration<double>;

/// The models for one evaluation, as they come in.
struct collection {
  explicit collection(std::size_t workers) : models(workers), missing(workers) {}

  /// @returns true when this was the last one
  bool add(rank source, vec model, std::uint64_t gradients, const traffic& bits) {
    models[source] = std::move(model);
    updates += gradients;
    sent += bits;
    return --missing == 0;
  }

  std::vector<vec> models;
  std::size_t missing;
  std::uint64_t updates = 0; // that these models have seen: the coordinator's own count runs behind them
  traffic sent;
};

class coordinator_state {
public:
  void open(caf::event_based_actor* self, coordinator_plan plan) {
    self_ = self;
    plan_ = std::move(plan);
    const auto& run = *plan_.run;
    synchronous_ = run.algorithm->traits.synchronous;
    summary_.algorithm = run.algorithm->about.name;
    summary_.workers = workers();
    summary_.seed = run.settings.seed;
    summary_.steps_per_worker.assign(workers(), 0);
    final_ = collection{workers()};
    next_evaluation_ = run.evaluation_steps * workers();
    updates_seen_.assign(workers(), 0);
    sent_.assign(workers(), {});
    broadcast_every_ = std::max<std::uint64_t>(workers(), planned_updates() / broadcasts_per_run);
  }

  void meet(const peers& all) {
    evaluator_ = all.evaluator;
    workers_ = all.workers;
    for (const auto& actor : *workers_)
      self_->monitor(actor);
    self_->monitor(evaluator_);
  }

  void start() {
    began_ = self_->clock().now();
    tell_workers(start_run{});
    self_->delayed_send(self_, tick_interval, tick{});
  }

  void on_step(const step_report& r) {
    ++updates_;
    summary_.steps_per_worker[r.source] = r.step;
    sent_[r.source] = r.sent;
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
      request_snapshots();
  }

  void on_snapshot(snapshot& s) {
    auto& c = collecting_.try_emplace(s.evaluation, workers()).first->second;
    if (!c.add(s.source, std::move(s.model), s.gradients, s.sent))
      return;
    evaluate(c);
    next_evaluation_ = c.updates + plan_.run->evaluation_steps * workers();
    collecting_.erase(s.evaluation);
  }

  void on_finished(worker_finished& f) {
    summary_.steps_per_worker[f.source] = f.steps;
    sent_[f.source] = f.sent;
    if (final_.add(f.source, std::move(f.model), f.steps, f.sent))
      evaluate(final_);
  }

  void on_evaluation(const evaluation_record& record) {
    --evaluating_;
    last_evaluation_ = record;
    if (plan_.observer)
      plan_.observer->on_evaluation(record);
    if (!std::isfinite(record.train_loss) || !std::isfinite(record.consensus_distance)) {
      fail({errc::diverged,
            fmt::format("training diverged: at epoch {:.3g} the training loss is {} and the models are {} apart",
                        record.epoch, record.train_loss, record.consensus_distance),
            "lower --lr, or the momentum of --optimiser"});
    } else if (final_.missing == 0 && evaluating_ == 0) {
      summary_.final = record;
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
    if (plan_.observer)
      plan_.observer->on_progress(progress());
  }

  void on_holding(const holding& h) {
    last_step_ = std::max(last_step_, h.step);
    if (++holding_ == workers())
      tell_workers(stop_at_step{last_step_ + 1});
  }

  void on_down(const caf::down_msg& down) {
    fail({errc::failed, "an actor of the run died: " + to_string(down.reason), {}});
  }

  void fail(const run_failed& failure) {
    self_->send(plan_.client, failure);
    self_->quit();
  }

private:
  std::size_t workers() const { return plan_.run->settings.workers; }
  std::uint64_t planned_updates() const { return plan_.run->steps_per_worker * workers(); }
  /// The final evaluation follows so soon that another before it would say nothing new.
  bool near_the_end() const { return planned_updates() - updates_ <= plan_.run->evaluation_steps * workers() / 2; }
  double elapsed() const { return seconds{self_->clock().now() - began_}.count(); }
  double epoch_of(std::uint64_t updates) const { return static_cast<double>(updates) / plan_.run->updates_per_epoch(); }

  template <class Message>
  void tell_workers(const Message& m) {
    for (const auto& worker : *workers_)
      self_->send(worker, m);
  }

  void request_snapshots() {
    collecting_.try_emplace(updates_, workers());
    tell_workers(snapshot_request{updates_});
  }

  void evaluate(collection& c) {
    evaluation_record record;
    record.step = c.updates;
    record.epoch = epoch_of(c.updates);
    record.time_s = elapsed();
    record.payload_bits = c.sent.payload_bits;
    record.wire_bits = c.sent.wire_bits;
    ++evaluating_;
    self_->send(evaluator_, evaluate_models{record, std::move(c.models)});
  }

  void stop(run_end why) {
    if (stopping_)
      return;
    stopping_ = true;
    summary_.end = why;
    if (synchronous_)
      tell_workers(hold_steps{});
    else
      tell_workers(stop_at_step{0});
  }

  progress_record progress() const {
    traffic sent;
    for (const auto& one : sent_)
      sent += one;
    progress_record p;
    p.time_s = elapsed();
    p.epoch = epoch_of(updates_);
    p.planned_epochs = plan_.run->planned_epochs;
    p.loss = smoothed_loss_;
    p.accuracy = last_evaluation_.test_accuracy;
    p.steps_per_second = static_cast<double>(updates_) / p.time_s;
    p.bits_per_second = static_cast<double>(sent.payload_bits) / p.time_s;
    const auto left = planned_updates() - std::min(updates_, planned_updates());
    p.remaining_s = static_cast<double>(left) / p.steps_per_second;
    if (const auto& limit = plan_.run->settings.seconds)
      p.remaining_s = std::min(p.remaining_s, *limit - p.time_s);
    return p;
  }

  caf::event_based_actor* self_ = nullptr;
  coordinator_plan plan_;
  bool synchronous_ = true;
  std::shared_ptr<const std::vector<caf::actor>> workers_;
  caf::actor evaluator_;
  caf::actor_clock::time_point began_;

  run_summary summary_;
  std::uint64_t updates_ = 0;
  std::vector<std::uint64_t> updates_seen_; // by each worker, when it last read its model
  std::vector<traffic> sent_;
  double smoothed_loss_ = 0;
  std::uint64_t broadcast_every_ = 1;

  std::uint64_t next_evaluation_ = 0;
  std::map<std::uint64_t, collection> collecting_;
  collection final_{0};
  std::size_t evaluating_ = 0;
  evaluation_record last_evaluation_;

  bool stopping_ = false;
  std::size_t holding_ = 0;
  std::uint64_t last_step_ = 0;
};

caf::behavior coordinator_actor(caf::stateful_actor<coordinator_state>* self, const coordinator_plan& plan) {
  auto& state = self->state;
  report_exceptions_to(self, plan.client, "the coordinator");
  state.open(self, plan);
  self->set_down_handler([&state](caf::down_msg& down) { state.on_down(down); });
  return {
      [&state](const peers& all) { state.meet(all); },
      [&state](start_run) { state.start(); },
      [&state](const step_report& r) { state.on_step(r); },
      [&state](snapshot& s) { state.on_snapshot(s); },
      [&state](worker_finished& f) { state.on_finished(f); },
      [&state](const evaluation_record& r) { state.on_evaluation(r); },
      [&state](const holding& h) { state.on_holding(h); },
      [&state](tick) { state.on_tick(); },
      [&state](const run_failed& failure) { state.fail(failure); },
  };
}

} // namespace

caf::actor spawn_coordinator(caf::actor_system& system, coordinator_plan plan) {
  return system.spawn(coordinator_actor, std::move(plan));
}

} // namespace gossamer::actors
