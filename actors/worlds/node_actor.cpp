#include "gossamer/actors/worlds/node_actor.hpp"

#include "gossamer/actors/runtime/evaluation_frames.hpp"
#include "gossamer/actors/runtime/failure_detector.hpp"
#include "gossamer/actors/runtime/local_node.hpp"
#include "gossamer/actors/runtime/view_maker.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

constexpr auto between_reports = std::chrono::milliseconds(50);

class node_state {
public:
  node_state() = default;
  node_state(const node_state&) = delete;
  node_state& operator=(const node_state&) = delete;
  ~node_state() {
    for (const auto& one : {evaluator_, writer_})
      if (one)
        caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  }

  void open(caf::event_based_actor* self, node_setup setup) {
    self_ = self;
    setup_ = std::move(setup);
    views_.emplace(*setup_.run);
    leader_ = failure_detector{setup_.patience};
  }

  void begin(const cluster_plan& plan) {
    coordinator_ = plan.coordinator;
    on_heartbeat();
    meet(plan);
    const auto& run = *setup_.run;
    const auto parts =
        setup_.world->parts(setup_.net, setup_.number, homes_of(plan.nodes, run.settings.workers, run.participants()));
    if (parts.from)
      require_states(*parts.from, run, plan.nodes[setup_.number].ranks);
    evaluator_ = parts.spawn_evaluator(self_);
    if (parts.spawn_checkpoint_writer)
      writer_ = parts.spawn_checkpoint_writer(self_);
    own_.emplace(self_, local_node::parts{
                            .participants = run.participants(),
                            .spawn = [self = caf::actor{self_}, start = starter_of(self_->system(), setup_.run, parts)](
                                         rank i, std::uint32_t life) { return start(i, life, self); },
                            .view_of = [this](const view_change& v) { return views_->make(v); }});
    self_->delayed_send(self_, between_reports, tick{});
  }

  void meet(const cluster_plan& plan) { setup_.meet_nodes(plan.nodes); }

  template <class Order>
  void obey(const Order& m) {
    own_->obey(m);
  }

  void on_down(const caf::down_msg& down) {
    if (const auto loss = own_ ? own_->died(down) : std::nullopt)
      hand_on(*loss);
  }

  // -- what workers say -----------------------------------------------------------------------------------------------

  void add(const step_report& r) { news_.steps.push_back(r); }
  void add(const gradient_applied& m) { ++news_.staleness[m.staleness]; }

  void hand_on_news() {
    const bool nothing = news_.steps.empty() && news_.staleness.empty();
    if (nothing && now() - last_report_ < heartbeat_every)
      return;
    last_report_ = now();
    self_->send(coordinator_, std::exchange(news_, {}));
  }

  /// The coordinator hears of everything in the order in which it happened.
  template <class Message>
  void hand_on(const Message& m) {
    hand_on_news();
    self_->send(coordinator_, m);
  }

  /// A worker's model stays here, and a master's belongs to the leader.
  void put_aside(snapshot& s) {
    const auto& run = *setup_.run;
    if (s.source >= run.settings.workers) {
      auto& way = to_leader_[s.source];
      if (!way)
        way = setup_.net->link_to(s.source, evaluating_life(run.participants(), 0));
      return way->send(to_frame(s, run.pool));
    }
    const auto news = without_model(s);
    if (run.is_evaluated(s.source))
      kept_.keep(std::move(s));
    hand_on(news);
  }

  /// A worker's part of a checkpoint, or the news that one is complete.
  template <class News>
  void write(News news) {
    if (writer_)
      self_->send(writer_, std::move(news));
  }

  void obey(const mean_request& m) {
    const auto everybody = lives_in(m.lives, setup_.run->participants());
    self_->send(evaluator_, evaluate_models{kept_.take(m.number, m.evaluation, everybody)});
  }

  void on_tick() {
    self_->delayed_send(self_, between_reports, tick{});
    hand_on_news();
    if (!leader_.silent(now()).empty())
      fail(silent_leader(leader_.patience()));
  }

  void on_heartbeat() { leader_.heard(0, now()); }

  void leave(const leave_run& m) {
    self_->send(setup_.client, m);
    self_->quit();
  }

  void obey(const switch_fault& m) { setup_.world->switch_fault(m.index, m.on); }

private:
  failure_detector::time now() const { return self_->clock().now().time_since_epoch(); }

  void fail(const run_failed& why) {
    self_->send(setup_.client, why);
    self_->quit();
  }

  caf::event_based_actor* self_ = nullptr;
  node_setup setup_;
  failure_detector leader_{std::chrono::seconds(10)};
  failure_detector::time last_report_{};
  coordinator_interface::handle coordinator_;
  work_report news_; // since the last report
  std::map<rank, std::unique_ptr<link>> to_leader_;
  kept_models kept_;
  caf::actor evaluator_;
  caf::actor writer_; // of checkpoints; null where there are none
  std::optional<view_maker> views_;
  std::optional<local_node> own_;
};

caf::behavior node_actor(caf::stateful_actor<node_state>* self, node_setup setup) {
  auto& state = self->state;
  report_exceptions_to(self, setup.client, "the node");
  state.open(self, std::move(setup));
  self->set_down_handler([&state](const caf::down_msg& m) { state.on_down(m); });
  self->set_default_handler(caf::skip); // orders may come before the plan
  const caf::behavior working = node_interface::behaviour(std::tuple{
      [&state](const begin_run& m) { state.obey(m); },
      [&state](const start_worker& m) { state.obey(m); },
      [&state](const stop_worker& m) { state.obey(m); },
      [&state](const pause_worker& m) { state.obey(m); },
      [&state](const hold_steps& m) { state.obey(m); },
      [&state](const decision& m) { state.obey(m); },
      [&state](const snapshot_request& m) { state.obey(m); },
      [&state](const run_progress& m) { state.obey(m); },
      [&state](const switch_fault& m) { state.obey(m); },
      [&state](const step_report& m) { state.add(m); },
      [&state](const gradient_applied& m) { state.add(m); },
      [&state](const mean_request& m) { state.obey(m); },
      [&state](snapshot& m) { state.put_aside(m); },
      [&state](const holding& m) { state.hand_on(m); },
      [&state](const worker_joined& m) { state.hand_on(m); },
      [&state](const worker_finished& m) { state.hand_on(m); },
      [&state](const worker_lost& m) { state.hand_on(m); },
      [&state](const run_failed& m) { state.hand_on(m); },
      [&state](const node_lost& m) { state.hand_on(m); },
      [&state](tick) { state.on_tick(); },
      [&state](heartbeat) { state.on_heartbeat(); },
      [&state](const cluster_plan& m) { state.meet(m); },
      [&state](const leave_run& m) { state.leave(m); },
      [&state](const save_checkpoint& m) { state.obey(m); },
      [&state](saved_worker& m) { state.write(std::move(m)); },
      [&state](const checkpoint_complete& m) { state.write(m); },
      [&state](const part_saved& m) { state.hand_on(m); },
      [&state](const part_not_saved& m) { state.hand_on(m); },
  });
  return {[self, working](const cluster_plan& plan) {
            try {
              self->state.begin(plan);
            } catch (const error& e) { // the run is told why, too: it lacks what was saved here
              self->send(plan.coordinator, run_failed{e.code(), e.sentence(), e.remedy()});
              throw;
            }
            self->set_default_handler(caf::print_and_drop);
            self->become(working);
          },
          [&state](const leave_run& m) { state.leave(m); }};
}

} // namespace

run_failed silent_leader(std::chrono::nanoseconds patience) {
  return {
      errc::failed,
      fmt::format("nothing has been heard of the leader for {:.3g} s", std::chrono::duration<double>{patience}.count()),
      "it may have been stopped, or be cut off; --patience says for how long that is borne"};
}

caf::actor spawn_node(caf::actor_system& system, node_setup setup) {
  return system.spawn(node_actor, std::move(setup));
}

} // namespace gossamer::actors
