#include "gossamer/actors/runtime/local_world.hpp"

#include "gossamer/actors/runtime/compute_actor.hpp"
#include "gossamer/actors/runtime/coordinator.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/runtime/worker_actor.hpp"

#include <fmt/format.h>

#include <thread>

namespace gossamer::actors {

namespace {

double slow_down_of(const experiment& e, rank worker) {
  const auto found = e.settings.slow.find(worker);
  return found == e.settings.slow.end() ? 1.0 : found->second;
}

worker_plan plan_worker(const std::shared_ptr<const experiment>& e, rank i, const run_surroundings& around,
                        const caf::actor& coordinator) {
  const auto slow_down = slow_down_of(*e, i);
  // Workers that share processors take their turns; a slow worker is slow in comparison with its share.
  const auto fair_share =
      std::max(1.0, static_cast<double>(e->settings.workers) / std::max(1u, std::thread::hardware_concurrency()));
  return {
      .settings = e->for_worker(i),
      .algorithm = e->algorithm->make(*e->algorithm_arguments, e->initial),
      .optimiser = e->optimiser->clone(),
      .on_compute_failure = e->algorithm->traits.on_compute_failure,
      .spawn_compute =
          [e, i, slow_down, fair_share](caf::local_actor* parent) {
            return parent->spawn<caf::detached>(
                compute_actor, std::function([e, i] { return std::make_unique<gradient_source>(e, i); }), slow_down,
                fair_share, caf::actor_cast<caf::actor>(parent), fmt::format("the compute actor of worker {}", i));
          },
      .wrap_link = around.wrap_link,
      .coordinator = coordinator,
  };
}

/// All actors of a run. Ends them when the run is over, however it ended: the actor system waits for each.
class cast {
public:
  cast() = default;
  cast(const cast&) = delete;
  cast& operator=(const cast&) = delete;
  ~cast() {
    for (const auto& actor : actors_)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  }

  caf::actor add(caf::actor actor) { return actors_.emplace_back(std::move(actor)); }

private:
  std::vector<caf::actor> actors_;
};

} // namespace

run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around) {
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("sharing"));
  if (e->settings.threads > 0)
    config.set("scheduler.max-threads", e->settings.threads);
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  cast actors;

  const auto coordinator = actors.add(spawn_coordinator(
      system, {.run = e, .observer = around.observer, .interrupted = around.interrupted, .client = self}));
  std::vector<caf::actor> workers;
  for (rank i = 0; i < e->settings.workers; ++i)
    workers.push_back(actors.add(spawn_worker(system, plan_worker(e, i, around, coordinator))));
  const auto evaluator = actors.add(system.spawn<caf::detached>(evaluator_actor, e, coordinator));
  const peers all{std::make_shared<const std::vector<caf::actor>>(std::move(workers)), evaluator};
  for (const auto& worker : *all.workers)
    self->send(worker, all);
  self->send(coordinator, all);
  self->send(coordinator, start_run{});

  run_summary summary;
  std::optional<run_failed> failure;
  self->receive([&](run_summary& s) { summary = std::move(s); }, [&](run_failed& f) { failure = std::move(f); });
  if (failure)
    throw error(failure->code, failure->sentence, failure->remedy);
  return summary;
}

} // namespace gossamer::actors
