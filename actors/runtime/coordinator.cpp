#include "gossamer/actors/runtime/coordinator.hpp"

#include "gossamer/actors/runtime/conflicts.hpp"
#include "gossamer/actors/runtime/coordination.hpp"
#include "gossamer/actors/runtime/evaluations.hpp"
#include "gossamer/actors/runtime/kept_models.hpp"
#include "gossamer/actors/runtime/local_node.hpp"
#include "gossamer/actors/runtime/progress_meter.hpp"

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
  }

  void open(caf::event_based_actor* self, coordinator_setup setup) {
    self_ = self;
    setup_ = std::move(setup);
    const auto& run = *setup_.run;
    coordination_.emplace(run);
    progress_.emplace(run);
    others_.emplace(setup_.others, setup_.patience);
    summary_.algorithm = run.algorithm->about.name;
    summary_.workers = workers();
    summary_.seed = run.settings.seed;
    summary_.steps_per_worker.assign(workers(), 0);
    evaluations_.emplace(run);
    updates_seen_.assign(workers(), 0);
    own_node_.emplace(
        self,
        local_node::parts{.participants = run.participants(),
                          .spawn = [this](rank i, std::uint32_t life) { return setup_.spawn_worker(i, life, self_); },
                          .view_of = [this](const view_change& v) { return coordination_->view_of(v); }});
  }

  void start() {
    began_ = self_->clock().now();
    evaluator_ = setup_.spawn_evaluator(self_);
    self_->monitor(evaluator_);
    for (const auto& other : *others_) {
      self_->monitor(other.handle);
      others_->heard().heard(other.number, now());
    }
    for (rank i = 0; i < setup_.run->participants(); ++i)
      tell_node_of(i, start_worker{i, 0});
    tell_nodes(begin_run{});
    self_->delayed_send(self_, tick_interval, tick{});
  }

  // -- steps and evaluations ------------------------------------------------------------------------------------------

  void on_step(const step_report& r) {
    if (!coordination_->is_current(r.source, r.incarnation))
      return;
    if (setup_.steps_to)
      self_->send(setup_.steps_to, r);
    progress_->count(r);
    summary_.stale_frames += r.stale_frames;
    if (setup_.run->algorithm->traits.synchronous)
      return;
    const auto updates = progress_->updates();
    const auto read_at = std::exchange(updates_seen_[r.source], updates);
    if (setup_.run->algorithm->traits.exchange == exchange_pattern::bipartite)
      on_applied({updates - 1 - read_at});
    if (progress_->worth_announcing())
      tell_nodes(run_progress{updates});
    on(run_progress{updates});
    if (coordination_->running() && evaluations_->due(updates)) {
      evaluations_->open(updates, coordination_->members());
      tell_nodes(snapshot_request{updates});
    }
  }

  void on_report(const work_report& r) {
    const auto* from = others_->speaking(self_->current_sender());
    if (from == nullptr)
      return;
    others_->heard().heard(from->number, now());
    for (const auto& step : r.steps)
      on_step(step);
    for (const auto& [age, count] : r.staleness)
      summary_.staleness[age] += count;
  }

  void on_applied(const gradient_applied& m) { ++summary_.staleness[m.staleness]; }

  void on_joined(const worker_joined& m) {
    if (coordination_->is_current(m.source, m.incarnation))
      updates_seen_[m.source] = progress_->updates();
    on(m);
  }

  void on_snapshot(snapshot& s) {
    const auto news = without_model(s);
    if (coordination_->is_current(s.source, s.incarnation) && setup_.run->is_evaluated(s.source))
      kept_.keep(std::move(s));
    on_taken(news);
  }

  void on_taken(const snapshot_taken& s) {
    if (!coordination_->is_current(s.source, s.incarnation))
      return;
    if (s.evaluation >= coordination::first_final) {
      const model_came news{s.source, s.incarnation, s.evaluation};
      if (coordination_->awaits(news))
        evaluations_->add_final(s);
      return on(news);
    }
    if (coordination_->over())
      return;
    evaluations_->add(s, coordination_->members());
    evaluate_what_is_complete();
  }

  void on_evaluation(const evaluated& m) {
    if (!evaluations_->finish(m.number))
      return;
    const auto& record = last_record_ = m.record;
    if (setup_.observer)
      setup_.observer->on_evaluation(record);
    if (!std::isfinite(record.train_loss) || !std::isfinite(record.consensus_distance)) {
      fail({errc::diverged,
            fmt::format("training diverged: at epoch {:.3g} the training loss is {} and the models are {} apart",
                        record.epoch, record.train_loss, record.consensus_distance),
            "lower --lr, or the momentum of --optimiser"});
    } else if (coordination_->over() && evaluations_->done()) {
      summarise();
      self_->send(setup_.client, summary_);
      self_->quit();
    } else {
      evaluate_next();
    }
  }

  void on_tick() {
    self_->delayed_send(self_, tick_interval, tick{});
    const auto now = elapsed();
    const auto& limit = setup_.run->settings.seconds;
    if (setup_.interrupted && setup_.interrupted())
      on(stop_run{run_end::interrupted, now});
    else if (limit && now >= *limit)
      on(stop_run{run_end::seconds, now});
    on(time_is{now});
    watch_nodes();
    if (setup_.observer)
      setup_.observer->on_progress(progress(now));
  }

  // -- who is there ---------------------------------------------------------------------------------------------------

  /// An event of the coordination, and what follows from it.
  template <class Event>
  void on(const Event& event) {
    for (const auto& what : coordination_->on(event))
      std::visit([&](const auto& one) { obey(one); }, what);
  }

  void on_down(const caf::down_msg& down) {
    if (const auto loss = own_node_->died(down))
      return notice(*loss);
    if (auto* other = others_->behind(down.source))
      return lose(*other, "its process is gone");
    if (evaluator_.address() == down.source)
      fail({errc::failed, "the evaluation died: " + to_string(down.reason), {}});
  }

  /// Two nodes do not reach each other.
  void on_complaint(const node_lost& m) {
    const auto* from = others_->speaking(self_->current_sender());
    const auto* about = others_->numbered(m.node);
    const bool is_heard = from != nullptr || self_->current_sender() == nullptr; // the leader's own data plane
    if (is_heard && (m.node == 0 || (about != nullptr && !about->lost)))
      conflicts_.add(from == nullptr ? 0 : from->number, m.node, m.why, now());
  }

  /// Its workers begin their next lives.
  void on_returned(const node_returned& m) {
    auto* node = others_->numbered(m.number);
    lose(*node, "its process has been started again"); // if that has not been noticed
    node->handle = m.handle;
    node->lost = false;
    self_->monitor(m.handle);
    others_->heard().heard(m.number, now());
    tell_observer(fmt::format("node {} is back", m.number));
    self_->send(m.handle, begin_run{});
    for (const auto i : node->ranks)
      on(restart_worker{i});
  }

  void pause(const pause_worker& m) { tell_node_of(m.who, m); }

  void tell_observer(const std::string& what) {
    if (setup_.observer)
      setup_.observer->on_event(elapsed(), what);
  }

  void fail(const run_failed& failure) {
    self_->send(setup_.client, failure);
    self_->quit();
  }

private:
  std::size_t workers() const { return setup_.run->settings.workers; }
  failure_detector::time now() const { return self_->clock().now() - began_; }
  double elapsed() const { return seconds{now()}.count(); }

  template <class Order>
  void tell_nodes(const Order& m) {
    own_node_->obey(m);
    for (const auto& other : *others_)
      self_->send(other.handle, m);
  }

  template <class Order>
  void tell_node_of(rank i, const Order& m) {
    if (const auto* elsewhere = others_->home_of(i))
      self_->send(elsewhere->handle, m);
    else
      own_node_->obey(m);
  }

  void notice(const worker_lost& loss) {
    if (setup_.detection.count() == 0)
      on(loss);
    else
      self_->delayed_send(self_, setup_.detection, loss);
  }

  /// Those that are silent are lost; all others hear that this one is there.
  void watch_nodes() {
    auto& heard = others_->heard();
    for (const auto number : heard.silent(now()))
      lose(*others_->numbered(number),
           fmt::format("nothing has been heard of it for {:.3g} s", seconds{heard.patience()}.count()));
    for (const auto& [number, why] : conflicts_.settle(now()))
      lose(*others_->numbered(number), why);
    if (now() - last_heartbeat_ >= heartbeat_every) {
      last_heartbeat_ = now();
      for (const auto& other : *others_)
        self_->send(other.handle, heartbeat{});
    }
  }

  void lose(remote_node& other, const std::string& why) {
    others_->heard().forget(other.number);
    conflicts_.forget(other.number);
    if (std::exchange(other.lost, true))
      return;
    tell_observer(fmt::format("node {} is lost: {}", other.number, why));
    caf::anon_send_exit(other.handle, caf::exit_reason::kill);
    for (const auto i : other.ranks)
      if (i < workers()) // a master's model has come here, or does not count
        evaluations_->lose(i);
    for (const auto i : other.ranks)
      if (coordination_->members().alive(i))
        on(worker_lost{i, coordination_->members().incarnation(i)});
    evaluate_next();
    if (coordination_->over() && evaluations_->done())
      fail(extinction()); // the last models were there
  }

  progress_record progress(double now) {
    auto record = progress_->at(now, last_record_.test_accuracy);
    record.nodes += static_cast<std::size_t>(std::ranges::distance(*others_));
    record.nodes_lost = static_cast<std::size_t>(std::ranges::count_if(*others_, &remote_node::lost));
    return record;
  }

  // -- orders ---------------------------------------------------------------------------------------------------------

  void obey(const hold_steps& m) { tell_nodes(m); }
  void obey(const decision& m) { tell_nodes(m); }

  void obey(const snapshot_request& m) {
    evaluations_->open_final();
    tell_nodes(m);
  }

  void obey(const start_worker& m) {
    progress_->ledger().close(m.who, m.incarnation - 1);
    tell_node_of(m.who, m);
    tell_observer(fmt::format("{} comes back", setup_.run->name_of(m.who)));
  }

  void obey(const stop_worker& m) { tell_node_of(m.who, m); }

  void obey(const forget_worker& m) {
    progress_->ledger().close(m.who, coordination_->members().incarnation(m.who));
    evaluations_->forget(m.who);
    tell_observer(fmt::format("{} is lost; {} go on", setup_.run->name_of(m.who), m.left));
    evaluate_what_is_complete();
  }

  void obey(const end_run& m) {
    for (const auto i : m.missing)
      tell_observer(fmt::format("{} does not answer; its model is left out", setup_.run->name_of(i)));
    summary_.end = m.why;
    summary_.unfinished = m.unfinished;
    if (!evaluations_->close_final(progress_->ledger(), elapsed()))
      return fail(extinction());
    evaluate_next();
  }

  void obey(const run_failed& m) { fail(m); }

  // -- evaluations ----------------------------------------------------------------------------------------------------

  void evaluate_what_is_complete() {
    evaluations_->close_complete(progress_->ledger(), elapsed());
    evaluate_next();
  }

  void evaluate_next() {
    if (const auto* e = evaluations_->begin()) {
      for (const auto& other : *others_)
        self_->send(other.handle, mean_request{e->request, e->number, ranges_of(e->everybody)});
      self_->send(evaluator_, evaluate_models{kept_.take(e->request, e->number, e->everybody), e->record});
    }
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
  coordinator_setup setup_;
  caf::actor evaluator_;
  std::optional<coordination> coordination_;
  std::optional<local_node> own_node_;
  std::optional<remote_nodes> others_;
  conflicts conflicts_;
  failure_detector::time last_heartbeat_{};
  caf::actor_clock::time_point began_;

  std::optional<progress_meter> progress_;
  std::vector<std::uint64_t> updates_seen_; // by each worker, when it last read its model: with its last report
  run_summary summary_;

  kept_models kept_; // of this process
  std::optional<evaluations> evaluations_;
  evaluation_record last_record_;
};

caf::behavior coordinator_actor(caf::stateful_actor<coordinator_state>* self, const coordinator_setup& setup) {
  auto& state = self->state;
  report_exceptions_to(self, setup.client, "the coordinator");
  state.open(self, setup);
  self->set_down_handler([&state](caf::down_msg& down) { state.on_down(down); });
  return coordinator_interface::behaviour(std::tuple{
      [&state](start_run) { state.start(); },
      [&state](const step_report& r) { state.on_step(r); },
      [&state](const gradient_applied& m) { state.on_applied(m); },
      [&state](const work_report& r) { state.on_report(r); },
      [&state](snapshot& s) { state.on_snapshot(s); },
      [&state](const worker_finished& f) { state.on(f); },
      [&state](const snapshot_taken& s) { state.on_taken(s); },
      [&state](const evaluated& m) { state.on_evaluation(m); },
      [&state](const holding& h) { state.on(h); },
      [&state](const worker_joined& m) { state.on_joined(m); },
      [&state](const worker_lost& m) { state.on(m); },
      [&state](const node_lost& m) { state.on_complaint(m); },
      [&state](const node_returned& m) { state.on_returned(m); },
      [&state](const kill_worker& m) { state.on(m); },
      [&state](const restart_worker& m) { state.on(m); },
      [&state](const pause_worker& m) { state.pause(m); },
      [&state](const run_event& m) { state.tell_observer(m.what); },
      [&state](tick) { state.on_tick(); },
      [&state](const run_failed& failure) { state.fail(failure); },
  });
}

} // namespace

caf::actor spawn_coordinator(caf::actor_system& system, coordinator_setup setup) {
  return system.spawn(coordinator_actor, std::move(setup));
}

} // namespace gossamer::actors
