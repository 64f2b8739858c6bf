#include "gossamer/actors/worlds/local_world.hpp"

#include "gossamer/actors/faults/faulty_link.hpp"
#include "gossamer/actors/faults/injector.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/worlds/world.hpp"

#include <fmt/format.h>

#include <thread>

namespace gossamer::actors {

namespace {

/// Hands a frame to the worker at the other end, without a copy.
class in_process_link final : public link {
public:
  in_process_link(caf::actor_system& system, caf::actor target) : system_(system), target_(std::move(target)) {}

  void transmit(frame f, std::chrono::nanoseconds delay) override {
    if (delay.count() == 0)
      caf::anon_send(target_, std::move(f));
    else
      system_.clock().schedule_message(
          system_.clock().now() + delay, caf::actor_cast<caf::strong_actor_ptr>(target_),
          caf::make_mailbox_element(nullptr, caf::make_message_id(), caf::no_stages, std::move(f)));
  }

private:
  caf::actor_system& system_;
  caf::actor target_;
};

/// Workers that share processors take their turns; a slow worker is slow in comparison with its share.
double fair_share(std::size_t workers) {
  return std::max(1.0, static_cast<double>(workers) / std::max(1u, std::thread::hardware_concurrency()));
}

world_parts parts_of(caf::actor_system& system, const std::shared_ptr<const experiment>& e,
                     const run_surroundings& around, const std::shared_ptr<fault_board>& board) {
  world_parts parts;
  parts.spawn_compute = [e, board, share = fair_share(e->settings.workers)](caf::local_actor* parent, rank i) {
    const auto slow = e->settings.slow.find(i);
    const double always = slow == e->settings.slow.end() ? 1.0 : slow->second;
    return parent->spawn<caf::detached>(
        compute_actor, compute_setup{.make = [e, i] { return std::make_unique<gradient_source>(e, i); },
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
  const auto count = std::make_shared<fault_count>();
  parts.make_link = [=, &system, wrap = around.wrap_link](rank from, rank to, const caf::actor& target) {
    std::unique_ptr<link> made = std::make_unique<in_process_link>(system, target);
    if (!board->plan().faults.empty())
      made = make_faulty_link(from, to, std::move(made), board, count, now, e->settings.seed, e->pool);
    return wrap ? wrap(from, to, std::move(made)) : std::move(made);
  };
  parts.may_wait = true;
  parts.acknowledged = !around.faults.faults.empty();
  return parts;
}

} // namespace

run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around) {
  const auto board =
      std::make_shared<fault_board>(around.faults, e->participants(), around.workers_per_node, e->settings.seed);
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("sharing"));
  if (e->settings.threads > 0)
    config.set("scheduler.max-threads", e->settings.threads);
  caf::actor_system system{config};
  caf::scoped_actor self{system};

  const auto injector = system.spawn(fault_injector, board, e->participants(), around.workers_per_node,
                                     std::function<void(std::size_t, bool)>{});
  const auto coordinator = spawn_run(system, e, parts_of(system, e, around, board), around.observer, around.interrupted,
                                     self, around.faults.needs_steps() ? injector : caf::actor{});
  self->send(coordinator, start_run{});
  self->send(injector, start_faults{coordinator});

  run_summary summary;
  std::optional<run_failed> failure;
  self->receive([&](run_summary& s) { summary = std::move(s); }, [&](run_failed& f) { failure = std::move(f); });
  self->send_exit(injector, caf::exit_reason::user_shutdown);
  if (failure)
    throw error(failure->code, failure->sentence, failure->remedy);
  return summary;
}

} // namespace gossamer::actors
