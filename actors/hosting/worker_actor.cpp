#include "gossamer/actors/hosting/worker_actor.hpp"

#include "gossamer/actors/hosting/last_states.hpp"
#include "gossamer/actors/hosting/work_queue.hpp"
#include "gossamer/actors/worker/hosted_worker.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace gossamer::actors {

namespace {

constexpr int most_compute_restarts = 3;

void say_lost(const std::string& name, const run_failed& why) {
  spdlog::error(fmt::format("{}: {}; the others go on without it", name, why.sentence));
}

class worker_state : public worker_host {
public:
  void open(caf::event_based_actor* self, worker_setup setup) {
    self_ = self;
    setup_ = std::move(setup);
    const auto& s = setup_.settings;
    queue_.emplace(self, s.place.id, setup_.clock);
    connections_.emplace(life{s.place.id, s.place.incarnation}, setup_.acknowledged, setup_.transport,
                         room_to_send{setup_.most_under_way,
                                      [to = self->address()] {
                                        if (const auto me = caf::actor_cast<caf::actor>(to))
                                          caf::anon_send(me, actors::more_room{});
                                      }},
                         setup_.gauge->sent());
    worker_.emplace(s, std::move(setup_.optimiser), *this);
  }

  /// Every message of the worker passes here: it takes its turn, and its time.
  template <class Work>
  void take(Work work) {
    queue_->take([this, work = std::move(work)]() mutable {
      const worker_gauge::handling handled{*setup_.gauge};
      work();
      report_when_finished();
    });
  }
  void go_on() { queue_->go_on(); }

  void meet(const std::shared_ptr<const roster>& who) {
    for (auto& f : connections_->meet(who))
      arrived(std::move(f));
  }

  void start() {
    if (setup_.spawn_compute)
      start_compute();
    worker_->run(*setup_.algorithm);
  }

  void proceed(const proceed_with& m) {
    setup_.left_out->take(setup_.settings.place.id); // it takes part
    std::vector<frame> waiting;
    if (m.next) {
      waiting = connections_->meet(m.who); // before the view: its frames go to the workers that are there
      worker_->adopt(m.next);
    }
    worker_->proceed(m.limit, m.save_at, m.leaving);
    for (auto& f : waiting)
      arrived(std::move(f));
  }

  void checkpoint(const save_checkpoint& m) { worker_->checkpoint(m.number); }
  void save_as_it_stands() {
    if (worker_->has_state())
      checkpoint(worker_->hold());
  }
  void take_snapshot(const snapshot_request& m) { worker_->take_snapshot(m.evaluation); }
  void progressed(const run_progress& m) { worker_->progressed(m.updates); }

  void receive(frame f) {
    queue_->handling(f);
    arrived(std::move(f));
  }

  void arrived(frame f) {
    connections_->arrived(std::move(f), now(), [this](frame next) { worker_->deliver(std::move(next)); });
  }

  void answer(const hold_steps& m) {
    const auto step = worker_->hold();
    if (m.left_out && worker_->has_state())
      setup_.left_out->keep(setup_.settings.place.id, worker_->state());
    queue_->send(setup_.node, worker_holds{setup_.settings.place.id, setup_.settings.place.incarnation, m.round, step,
                                           worker_->next_exchange()});
  }

  void more_room() { worker_->more_room(); }
  void wake() { worker_->wake(); }

  /// Only the last alarm that was set counts: if the others set new ones, too, there would be more and more.
  void repeat_frames(const actors::repeat_frames& m) {
    if (alarm_ != m.due)
      return;
    alarm_.reset();
    connections_->repeat(now());
    set_alarm();
  }

  void gradient_arrived(gradient_result result) {
    if (job_ && job_->step == result.step) {
      job_.reset();
      setup_.gauge->gradient_ends();
    }
    worker_->gradient_arrived(std::move(result));
  }

  /// The compute actor stands still with its worker, as far as it can.
  template <class Order>
  void tell_compute(Order o) {
    if (compute_)
      self_->send(compute_, o);
  }

  void compute_failed(run_failed why) { compute_failure_ = std::move(why); }

  void compute_died() {
    if (compute_failure_.code == errc::device) {
      say_lost(setup_.name, compute_failure_);
      return self_->quit(caf::exit_reason::kill);
    }
    const bool lasts = compute_failure_.code == errc::usage; // a wrong request stays wrong
    if (lasts || setup_.on_compute_failure == compute_failure::end_run || ++restarts_ > most_compute_restarts) {
      self_->send(setup_.node, compute_failure_);
      return;
    }
    spdlog::warn(fmt::format("{}: {}; starting its compute actor anew ({} of {})", setup_.name,
                             compute_failure_.sentence, restarts_, most_compute_restarts));
    start_compute();
    if (job_)
      self_->send(compute_, *job_);
  }

  // -- worker_host ----------------------------------------------------------------------------------------------------

  void compute(gradient_job job) override {
    job_ = std::move(job);
    setup_.gauge->gradient_begins();
    queue_->send(compute_, *job_);
  }

  void report(step_report r) override { queue_->send(setup_.node, r); }
  void report(snapshot s) override { queue_->send(setup_.node, std::move(s)); }
  void send(rank to, frame f) override {
    const worker_gauge::sending counted{*setup_.gauge};
    connections_->send(to, std::move(f), now());
    if (setup_.acknowledged)
      set_alarm();
  }
  traffic sent() const override { return connections_->sent(); }
  connections::time now() const override { return queue_->now(); }
  void wake_at(connections::time time) override { queue_->send_at(time, wake_up{}); }
  bool has_room(std::optional<rank> to) const override { return connections_->has_room(to); }
  void gradient_applied(std::uint64_t staleness) override {
    queue_->send(setup_.node, actors::gradient_applied{staleness});
  }
  void joined(std::uint64_t step) override {
    queue_->send(setup_.node, worker_joined{setup_.settings.place.id, setup_.settings.place.incarnation, step});
  }
  void paused() override {
    queue_->send(setup_.node, worker_paused{setup_.settings.place.id, setup_.settings.place.incarnation});
  }
  void checkpoint(std::uint64_t number) override {
    const auto& place = setup_.settings.place;
    queue_->send(setup_.node, saved_worker{.checkpoint = number,
                                           .who = place.id,
                                           .incarnation = place.incarnation,
                                           .random_life = place.random_life,
                                           .gradients = worker_->gradients_done(),
                                           .sent = worker_->sent(),
                                           .state = worker_->state()});
  }
  void save() override {
    if (setup_.kept)
      setup_.kept->keep(setup_.settings.place.id, worker_->state());
  }

private:
  void start_compute() {
    compute_ = setup_.spawn_compute(self_);
    self_->monitor(compute_);
  }

  /// A message to itself when the first frame has to be sent again, unless one comes earlier anyway.
  void set_alarm() {
    const auto due = connections_->timeout();
    if (!due || (alarm_ && *alarm_ <= *due))
      return;
    alarm_ = due;
    self_->delayed_send(self_, std::max(*due - now(), connections::time{0}), actors::repeat_frames{*due});
  }

  void report_when_finished() {
    const bool finished = worker_->finished(); // also rethrows the exception that ended a coroutine, at any time
    if (reported_ || !finished)
      return;
    reported_ = true;
    queue_->send(setup_.node, worker_finished{setup_.settings.place.id, setup_.settings.place.incarnation});
  }

  caf::event_based_actor* self_ = nullptr;
  worker_setup setup_;
  std::optional<work_queue> queue_;
  std::optional<connections> connections_;
  std::optional<connections::time> alarm_;
  caf::actor compute_;
  std::optional<gradient_job> job_; // kept until it is answered, for a compute actor that starts anew
  run_failed compute_failure_{errc::failed, "a compute actor was killed", {}};
  int restarts_ = 0;
  bool reported_ = false;
  std::optional<hosted_worker> worker_; // last: its coroutines refer to the rest
};

/// A paused worker leaves everything in its mailbox, but for the reason why its compute actor ends: of that end itself
/// CAF tells it at once.
void pause(caf::stateful_actor<worker_state>* self) {
  self->state.tell_compute(pause_work{});
  self->set_default_handler(caf::skip);
  self->become(caf::keep_behavior,
               caf::behavior{[self](resume_work m) {
                               self->state.tell_compute(m);
                               self->set_default_handler(caf::print_and_drop);
                               self->unbecome();
                             },
                             [self](run_failed& why) { self->state.compute_failed(std::move(why)); }});
}

/// A GPU that fails takes this worker with it. Anything else ends the run.
void handle_exceptions(caf::event_based_actor* self, const caf::actor& node, const std::string& name) {
  self->set_exception_handler([=](std::exception_ptr& problem) -> caf::error {
    const auto why = describe(problem, name);
    if (why.code == errc::device) {
      say_lost(name, why);
      return caf::exit_reason::kill;
    }
    self->send(node, why);
    return caf::sec::runtime_error;
  });
}

caf::behavior worker_actor(caf::stateful_actor<worker_state>* self, std::shared_ptr<worker_setup> setup) {
  auto& state = self->state;
  handle_exceptions(self, setup->node, setup->name);
  state.open(self, std::move(*setup));
  self->set_down_handler([&state](caf::down_msg&) { state.compute_died(); });
  return {
      [&state](const meet_peers& m) { state.take([&state, m] { state.meet(m.who); }); },
      [&state](start_run) { state.take([&state] { state.start(); }); },
      [&state](frame& f) { state.take([&state, f = std::move(f)]() mutable { state.receive(std::move(f)); }); },
      [&state](gradient_result& g) {
        state.take([&state, g = std::move(g)]() mutable { state.gradient_arrived(std::move(g)); });
      },
      [&state](run_failed& failure) { state.compute_failed(std::move(failure)); },
      [&state](const hold_steps& m) { state.take([&state, m] { state.answer(m); }); },
      [&state](const proceed_with& m) { state.take([&state, m] { state.proceed(m); }); },
      [&state](const snapshot_request& m) { state.take([&state, m] { state.take_snapshot(m); }); },
      [&state](const save_checkpoint& m) { state.take([&state, m] { state.checkpoint(m); }); },
      [&state](save_as_it_stands) { state.take([&state] { state.save_as_it_stands(); }); },
      [&state](const run_progress& m) { state.take([&state, m] { state.progressed(m); }); },
      [&state](const repeat_frames& m) { state.take([&state, m] { state.repeat_frames(m); }); },
      [&state](more_room) { state.take([&state] { state.more_room(); }); },
      [&state](wake_up) { state.take([&state] { state.wake(); }); },
      [&state](work_done) { state.go_on(); },
      [self](pause_work) { pause(self); },
      [](resume_work) {},
  };
}

} // namespace

caf::actor spawn_worker(caf::actor_system& system, worker_setup setup) {
  const bool own_thread = setup.own_thread;
  auto shared = std::make_shared<worker_setup>(std::move(setup));
  return own_thread ? system.spawn<caf::detached>(worker_actor, std::move(shared))
                    : system.spawn(worker_actor, std::move(shared));
}

} // namespace gossamer::actors
