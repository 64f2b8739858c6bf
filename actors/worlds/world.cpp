#include "gossamer/actors/worlds/world.hpp"

#include "gossamer/actors/runtime/delivery_thread.hpp"

namespace gossamer::actors {

worker_starter starter_of(caf::actor_system& system, std::shared_ptr<const experiment> e, world_parts parts) {
  const auto kept = std::make_shared<kept_states>();
  return [&system, e, parts, kept](rank i, std::uint32_t incarnation, const caf::actor& coordinator) {
    worker_setup setup;
    setup.settings = e->for_worker(i, incarnation);
    setup.settings.witness = parts.witness;
    setup.algorithm = e->make_algorithm(i, *setup.settings.packing.coder);
    setup.optimiser = e->device_of(i).optimiser->clone();
    setup.own_thread = parts.may_wait && e->device_of(i).where.on_gpu();
    setup.on_compute_failure = e->algorithm->traits.on_compute_failure;
    if (i < e->settings.workers)
      setup.spawn_compute = [i, incarnation, start = parts.spawn_compute](caf::local_actor* parent) {
        return start(parent, i, incarnation);
      };
    setup.transport = parts.transport;
    setup.acknowledged = parts.acknowledged;
    setup.most_under_way = e->most_under_way();
    if (parts.acknowledged && i >= e->settings.workers) {
      setup.kept = kept;
      setup.settings.place.saved = kept->last_of(i);
    }
    setup.clock = parts.clock;
    setup.name = e->name_of(i);
    setup.coordinator = coordinator;
    auto started = spawn_worker(system, std::move(setup));
    parts.transport->attach({i, incarnation}, [started, alone = parts.alone](frame f) {
      alone ? deliver(started, std::move(f)) : caf::anon_send(started, std::move(f));
    });
    return started;
  };
}

caf::actor spawn_run(caf::actor_system& system, std::shared_ptr<const experiment> e, const world_parts& parts,
                     run_client client) {
  coordinator_setup setup;
  setup.run = e;
  setup.observer = client.observer;
  setup.interrupted = std::move(client.interrupted);
  setup.detection = parts.detection;
  setup.spawn_worker = starter_of(system, e, parts);
  setup.others = std::move(client.others);
  setup.patience = client.patience;
  setup.spawn_evaluator = parts.spawn_evaluator;
  setup.steps_to = client.steps_to;
  setup.client = client.client;
  return spawn_coordinator(system, std::move(setup));
}

run_summary outcome(caf::scoped_actor& client) {
  run_summary summary;
  std::optional<run_failed> failure;
  client->receive([&](run_summary& s) { summary = std::move(s); }, [&](run_failed& f) { failure = std::move(f); });
  if (failure)
    throw error(failure->code, failure->sentence, failure->remedy);
  return summary;
}

} // namespace gossamer::actors
