#include "gossamer/actors/runtime/world.hpp"

namespace gossamer::actors {

caf::actor spawn_run(caf::actor_system& system, std::shared_ptr<const experiment> e, world_parts parts,
                     run_observer* observer, std::function<bool()> interrupted, const caf::actor& client,
                     const caf::actor& steps_to) {
  const auto kept = std::make_shared<kept_states>();
  auto spawn = [&system, e, parts, kept](rank i, std::uint32_t incarnation, const caf::actor& coordinator) {
    worker_plan plan;
    plan.settings = e->for_worker(i, incarnation);
    plan.settings.heard = parts.heard;
    plan.algorithm = e->make_algorithm(i, *plan.settings.coder);
    plan.optimiser = e->device_of(i).optimiser->clone();
    plan.own_thread = parts.may_wait && e->device_of(i).where.on_gpu();
    plan.on_compute_failure = e->algorithm->traits.on_compute_failure;
    if (i < e->settings.workers)
      plan.spawn_compute = [i, start = parts.spawn_compute](caf::local_actor* parent) { return start(parent, i); };
    plan.make_link = parts.make_link;
    plan.acknowledged = parts.acknowledged;
    if (parts.acknowledged && i >= e->settings.workers) {
      plan.kept = kept;
      plan.settings.saved = kept->last_of(i);
    }
    plan.name = e->name_of(i);
    plan.coordinator = coordinator;
    return spawn_worker(system, std::move(plan));
  };
  coordinator_plan plan;
  plan.run = e;
  plan.observer = observer;
  plan.interrupted = std::move(interrupted);
  plan.detection = parts.detection;
  plan.spawn_worker = std::move(spawn);
  plan.spawn_evaluator = parts.spawn_evaluator;
  plan.steps_to = steps_to;
  plan.client = client;
  return spawn_coordinator(system, std::move(plan));
}

} // namespace gossamer::actors
