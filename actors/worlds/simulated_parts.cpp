// The actors and links of the simulated world.
#include "gossamer/actors/faults/injector.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/simulation/observed_link.hpp"
#include "gossamer/actors/worlds/detail/simulation.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

class simulated_link final : public link {
public:
  simulated_link(simulation& world, rank to, sink_table::entry target)
      : world_(world), to_(to), target_(std::move(target)) {}

  void send(frame f) override {
    frame_leaves what{target_, to_, number_++, std::move(f)};
    if (world_.moment() > world_.now())
      world_.at(world_.moment(), std::move(what));
    else
      world_.leave(std::move(what));
  }

private:
  simulation& world_;
  rank to_;
  sink_table::entry target_;
  std::uint64_t number_ = 0;
};

/// Computes real gradients at once, and answers when their time is over.
caf::behavior simulated_compute(caf::event_based_actor* self, simulation* world,
                                std::shared_ptr<gradient_source> source, rank who, caf::actor supervisor) {
  report_exceptions_to(self, supervisor, fmt::format("the compute actor of worker {}", who));
  self->monitor(supervisor);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  return {[=, free_at = virtual_time{}](const gradient_job& job) mutable {
    const auto begins = std::max(free_at, world->now());
    const auto share = static_cast<double>(source->samples_of(job)) / static_cast<double>(world->batch());
    free_at = later(begins, world->cost_of(who, job.step, share));
    world->observer().computes(who, job.step, begins, free_at);
    world->at(free_at,
              gradient_is_done{caf::actor_cast<caf::actor>(self->current_sender()), who, source->compute(job)});
  }};
}

caf::behavior client_actor(caf::event_based_actor* self, simulation* world) {
  self->set_default_handler(caf::drop);
  return {[=](run_summary& s) { world->on_end(std::move(s)); },
          [=](run_failed& f) { world->on_failure(std::move(f)); }};
}

} // namespace

std::unique_ptr<link> simulation::link_to(rank from, life to) {
  std::unique_ptr<link> made = std::make_unique<simulated_link>(*this, to.who, sinks_.find(to));
  if (!around_.faults.faults.empty())
    made = make_faulty_link(from, to.who, std::move(made), faulty_);
  made = std::make_unique<observed_link>(observer_, meter_, std::move(made));
  return around_.wrap_link ? around_.wrap_link(from, to.who, std::move(made)) : std::move(made);
}

world_parts simulation::parts() {
  world_parts parts;
  parts.spawn_compute = [this](caf::local_actor* parent, rank who, std::uint32_t random_life) {
    auto source = std::make_shared<gradient_source>(run_, who, random_life, models_[who % models_.size()]);
    return parent->spawn(simulated_compute, this, std::move(source), who, caf::actor_cast<caf::actor>(parent));
  };
  parts.spawn_evaluator = [this](const caf::actor& node) {
    return spawn_evaluator(system_, {.run = run_, .supervisor = node});
  };
  add_checkpoints(parts, system_, *run_, around_, false);
  parts.transport = std::shared_ptr<transport>{std::shared_ptr<transport>{}, this}; // which outlives its actors
  parts.acknowledged = !around_.faults.faults.empty();
  parts.detection = from_seconds(settings_.detection_s);
  parts.witness = &observer_;
  parts.clock = &meter_;
  return parts;
}

void simulation::spawn_actors() {
  client_ = system_.spawn(client_actor, this);
  injector_ = system_.spawn(fault_injector, board_, run_->participants(), settings_.workers_per_node,
                            std::function([this](std::size_t fault, bool on) { on_fault(fault, on); }));
  node_ = spawn_run(system_, run_, parts(),
                    {.observer = &observer_,
                     .interrupted = around_.interrupted,
                     .client = client_,
                     .steps_to = around_.faults.needs_steps() ? injector_ : caf::actor{}});
  caf::anon_send(node_, start_run{});
  caf::anon_send(injector_, start_faults{node_});
}

} // namespace gossamer::actors::detail
