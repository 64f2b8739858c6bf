#include "gossamer/actors/runtime/worker_actor.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace gossamer::actors {

namespace {

constexpr int most_compute_restarts = 3;

/// Hands a frame to the worker at the other end, without a copy.
class in_process_link final : public link {
public:
  explicit in_process_link(caf::actor target) : target_(std::move(target)) {}

private:
  void transmit(frame f) override { caf::anon_send(target_, std::move(f)); }

  caf::actor target_;
};

class worker_state : public worker_host {
public:
  void open(caf::event_based_actor* self, worker_plan plan) {
    self_ = self;
    plan_ = std::move(plan);
    worker_.emplace(plan_.settings, std::move(plan_.optimiser), *this);
  }

  void start() {
    start_compute();
    worker_->run(*plan_.algorithm);
    report_when_finished();
  }

  void meet(const peers& all) { peers_ = all.workers; }

  /// Every message that lets a coroutine go on ends here.
  template <class Event>
  void on(Event event) {
    event(*worker_);
    report_when_finished();
  }

  std::uint64_t hold() { return worker_->hold(); }

  void gradient_arrived(gradient_result result) {
    job_.reset();
    on([&](worker& w) { w.gradient_arrived(std::move(result)); });
  }

  void compute_failed(run_failed why) { compute_failure_ = std::move(why); }

  void compute_died() {
    if (plan_.on_compute_failure == compute_failure::end_run || ++restarts_ > most_compute_restarts) {
      self_->send(plan_.coordinator, compute_failure_);
      return;
    }
    spdlog::warn("worker {}: {}; starting its compute actor anew ({} of {})", plan_.settings.id,
                 compute_failure_.sentence, restarts_, most_compute_restarts);
    start_compute();
    if (job_)
      self_->send(compute_, *job_);
  }

  // -- worker_host ----------------------------------------------------------------------------------------------------

  void compute(std::uint64_t step, vec x) override {
    job_ = gradient_job{step, std::move(x)};
    self_->send(compute_, *job_);
  }

  void report(step_report r) override { self_->send(plan_.coordinator, r); }

  void report(snapshot s) override { self_->send(plan_.coordinator, std::move(s)); }

  link& link_to(rank peer) override {
    auto& slot = links_[peer];
    if (!slot) {
      slot = std::make_unique<in_process_link>(peers_->at(peer));
      if (plan_.wrap_link)
        slot = plan_.wrap_link(plan_.settings.id, peer, std::move(slot));
    }
    return *slot;
  }

  traffic sent() const override {
    traffic total;
    for (const auto& [peer, one] : links_)
      total += one->sent();
    return total;
  }

private:
  void start_compute() {
    compute_ = plan_.spawn_compute(self_);
    self_->monitor(compute_);
  }

  void report_when_finished() {
    if (reported_ || !worker_->finished())
      return;
    reported_ = true;
    self_->send(plan_.coordinator,
                worker_finished{plan_.settings.id, worker_->gradients_done(), worker_->model(), sent()});
  }

  caf::event_based_actor* self_ = nullptr;
  worker_plan plan_;
  std::optional<worker> worker_;
  std::shared_ptr<const std::vector<caf::actor>> peers_;
  std::map<rank, std::unique_ptr<link>> links_; // to those that were sent something
  caf::actor compute_;
  std::optional<gradient_job> job_; // kept until it is answered, for a compute actor that starts anew
  run_failed compute_failure_{errc::failed, "a compute actor was killed", {}};
  int restarts_ = 0;
  bool reported_ = false;
};

caf::behavior worker_actor(caf::stateful_actor<worker_state>* self, std::shared_ptr<worker_plan> plan) {
  auto& state = self->state;
  const auto coordinator = plan->coordinator;
  report_exceptions_to(self, coordinator, fmt::format("worker {}", plan->settings.id));
  state.open(self, std::move(*plan));
  self->set_down_handler([&state](caf::down_msg&) { state.compute_died(); });
  return {
      [&state](const peers& all) { state.meet(all); },
      [&state](start_run) { state.start(); },
      [&state](frame& f) { state.on([&](worker& w) { w.deliver(std::move(f)); }); },
      [&state](gradient_result& g) { state.gradient_arrived(std::move(g)); },
      [&state](run_failed& failure) { state.compute_failed(std::move(failure)); },
      [&state, self, coordinator](hold_steps) { self->send(coordinator, holding{state.hold()}); },
      [&state](const stop_at_step& m) { state.on([&](worker& w) { w.stop_at(m.step); }); },
      [&state](const snapshot_request& m) { state.on([&](worker& w) { w.take_snapshot(m.evaluation); }); },
      [&state](const run_progress& m) { state.on([&](worker& w) { w.progressed(m.updates); }); },
  };
}

} // namespace

caf::actor spawn_worker(caf::actor_system& system, worker_plan plan) {
  return system.spawn(worker_actor, std::make_shared<worker_plan>(std::move(plan)));
}

} // namespace gossamer::actors
