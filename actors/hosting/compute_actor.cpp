#include "gossamer/actors/hosting/compute_actor.hpp"

#include "gossamer/actors/hosting/lent_thread.hpp"
#include "gossamer/actors/run/thread_time.hpp"

namespace gossamer::actors {

namespace {

using this_actor = caf::stateful_actor<compute_state>*;
using nanoseconds = std::chrono::nanoseconds;

void answer(this_actor self, std::chrono::duration<double> fair_time) {
  const auto work = *std::exchange(self->state.under_way, std::nullopt);
  auto result = self->state.source->finish();
  if (const auto& told = self->state.setup.on_gradient)
    told(result.step, self->clock().now() - work.began);
  if (work.slower == 1) {
    if (!self->state.setup.lends_thread)
      return self->send(work.asker, std::move(result));
    lent_thread here{self->system(), {work.asker}, 1}; // then the next gradient begins
    return here.send(work.asker, std::move(result));
  }
  const auto missing =
      std::chrono::duration_cast<nanoseconds>(work.slower * fair_time - (self->clock().now() - work.began));
  self->delayed_send(work.asker, std::max(missing, nanoseconds{0}), std::move(result));
}

void await_device(this_actor self) {
  self->set_default_handler(caf::skip); // jobs wait
  self->become(caf::keep_behavior, caf::behavior{[self](gradient_done) {
                 self->set_default_handler(caf::print_and_drop);
                 self->unbecome();
                 answer(self, self->clock().now() - self->state.under_way->began);
               }});
}

/// Returns the function that wakes this actor, from a thread of the device or of the program.
std::function<void()> teller(this_actor self) {
  const auto me = caf::actor_cast<caf::actor>(self);
  if (!self->state.source->computes_elsewhere())
    return [me] { caf::anon_send(me, gradient_done{}); };
  return [me, &system = self->system(), worker = self->state.under_way->asker, way_in = self->state.way_in] {
    std::optional<lent_thread> here;
    if (const std::scoped_lock lock{way_in->mutex}; way_in->is_open)
      here.emplace(system, std::initializer_list<caf::actor>{me, worker});
    if (here)
      here->send(me, gradient_done{});
  };
}

void start(this_actor self, const gradient_job& job) {
  auto& state = self->state;
  if (!state.source)
    state.source = state.setup.make();
  state.under_way = compute_state::work{caf::actor_cast<caf::actor>(self->current_sender()), state.setup.slow_down(),
                                        self->clock().now(), thread_time()};
  state.source->start(job);
  if (state.source->when_done(teller(self)))
    await_device(self);
  else
    answer(self, state.setup.fair_share * (thread_time() - state.under_way->worked));
}

} // namespace

caf::behavior compute_actor(caf::stateful_actor<compute_state>* self, compute_setup setup) {
  report_exceptions_to(self, setup.supervisor, setup.who);
  self->monitor(setup.supervisor);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  self->state.setup = std::move(setup);
  return {[self](const gradient_job& job) { start(self, job); },
          [](pause_work) {}, // a thread cannot be stopped: its gradient waits for the worker
          [](resume_work) {}};
}

} // namespace gossamer::actors
