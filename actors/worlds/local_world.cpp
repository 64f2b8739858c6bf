#include "gossamer/actors/worlds/local_world.hpp"

#include "gossamer/actors/faults/faulty_link.hpp"
#include "gossamer/actors/faults/injector.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/runtime/sink_table.hpp"
#include "gossamer/actors/worlds/threads.hpp"
#include "gossamer/actors/worlds/world.hpp"

#include <fmt/format.h>

#include <thread>

namespace gossamer::actors {

namespace {

/// Hands frames to the actors at the other end, without a copy.
class in_process_transport final : public transport {
public:
  /// @param wrap what every link is wrapped in
  explicit in_process_transport(link_wrapper wrap) : wrap_(std::move(wrap)) {}

  void attach(life who, frame_sink sink) override { sinks_.attach(who, std::move(sink)); }
  std::unique_ptr<link> link_to(rank from, life to) override {
    return wrap_(from, to.who, std::make_unique<in_process_link>(sinks_.find(to)));
  }

private:
  class in_process_link final : public link {
  public:
    explicit in_process_link(sink_table::entry target) : target_(std::move(target)) {}
    void send(frame f) override {
      if (target_)
        (*target_)(std::move(f));
    }

  private:
    sink_table::entry target_;
  };

  link_wrapper wrap_;
  sink_table sinks_;
};

/// Does what it is told, when the clock delivers the message. (A class: of a function without arguments, CAF 0.17 makes
/// an actor that refers to arguments that are not there.)
class delay_line final : public caf::event_based_actor {
public:
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](const postponed& p) { p.what(); }};
  }
};

/// @param line a `delay_line`
timer timer_of(caf::actor_system& system, const caf::actor& line) {
  return [&system, line = caf::actor_cast<caf::strong_actor_ptr>(line)](std::chrono::nanoseconds delay,
                                                                        std::function<void()> what) {
    system.clock().schedule_message(
        system.clock().now() + delay, line,
        caf::make_mailbox_element(nullptr, caf::make_message_id(), caf::no_stages, postponed{std::move(what)}));
  };
}

/// Workers that share processors take their turns; a slow worker is slow in comparison with its share.
double fair_share(std::size_t workers) {
  return std::max(1.0, static_cast<double>(workers) / std::max(1u, std::thread::hardware_concurrency()));
}

world_parts parts_of(caf::actor_system& system, const std::shared_ptr<const experiment>& e,
                     const run_surroundings& around, const std::shared_ptr<fault_board>& board,
                     const caf::actor& line) {
  world_parts parts;
  parts.spawn_compute = [e, board, share = fair_share(e->settings.workers)](caf::local_actor* parent, rank i,
                                                                            std::uint32_t incarnation) {
    const auto slow = e->settings.slow.find(i);
    require_threads(1); // also when it is started anew
    const double always = slow == e->settings.slow.end() ? 1.0 : slow->second;
    return parent->spawn<caf::detached>(
        compute_actor, compute_setup{.make = [=] { return std::make_unique<gradient_source>(e, i, incarnation); },
                                     .slow_down = [always, board, i] { return always * board->slow_down(i); },
                                     .fair_share = share,
                                     .supervisor = caf::actor_cast<caf::actor>(parent),
                                     .who = fmt::format("the compute actor of worker {}", i)});
  };
  parts.spawn_evaluator = [&system, e](const caf::actor& coordinator) {
    return system.spawn<caf::detached>(evaluator_actor, e, coordinator);
  };
  const auto began = system.clock().now();
  const auto now = [&system, began] { return std::chrono::duration<double>(system.clock().now() - began).count(); };
  const auto faulty = std::make_shared<const faulty_surroundings>(faulty_surroundings{
      board, std::make_shared<fault_count>(), now, timer_of(system, line), e->settings.seed, e->pool});
  parts.transport = std::make_shared<in_process_transport>(
      [=, wrap = around.wrap_link](rank from, rank to, std::unique_ptr<link> made) {
        if (!board->plan().faults.empty())
          made = make_faulty_link(from, to, std::move(made), faulty);
        return wrap ? wrap(from, to, std::move(made)) : std::move(made);
      });
  parts.may_wait = true;
  parts.acknowledged = !around.faults.faults.empty();
  return parts;
}

/// Those of workers and evaluator, of the scheduler, and what CAF has besides.
std::size_t threads_of(const experiment& e) {
  constexpr std::size_t least_of_scheduler = 4, besides = 2;
  const auto scheduler = e.settings.threads > 0 ? e.settings.threads : std::thread::hardware_concurrency();
  return e.settings.workers + 1 + std::max(least_of_scheduler, scheduler) + besides;
}

/// An actor that ends with its scope, also when that is left by an exception: its system waits for its end.
struct scoped_life {
  explicit scoped_life(caf::actor whose) : actor(std::move(whose)) {}
  scoped_life(const scoped_life&) = delete;
  scoped_life& operator=(const scoped_life&) = delete;
  ~scoped_life() { caf::anon_send_exit(actor, caf::exit_reason::user_shutdown); }
  const caf::actor actor;
};

} // namespace

run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around) {
  const auto board =
      std::make_shared<fault_board>(around.faults, e->participants(), around.workers_per_node, e->settings.seed);
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("sharing"));
  if (e->settings.threads > 0)
    config.set("scheduler.max-threads", e->settings.threads);
  require_threads(threads_of(*e));
  caf::actor_system system{config};
  caf::scoped_actor self{system};

  const scoped_life injector{system.spawn(fault_injector, board, e->participants(), around.workers_per_node,
                                          std::function<void(std::size_t, bool)>{})};
  const scoped_life line{system.spawn<delay_line>()};
  const scoped_life coordinator{spawn_run(system, e, parts_of(system, e, around, board, line.actor), around.observer,
                                          around.interrupted, self,
                                          around.faults.needs_steps() ? injector.actor : caf::actor{})};
  self->send(coordinator.actor, start_run{});
  self->send(injector.actor, start_faults{coordinator.actor});

  run_summary summary;
  std::optional<run_failed> failure;
  self->receive([&](run_summary& s) { summary = std::move(s); }, [&](run_failed& f) { failure = std::move(f); });
  if (failure)
    throw error(failure->code, failure->sentence, failure->remedy);
  return summary;
}

} // namespace gossamer::actors
