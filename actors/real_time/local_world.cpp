#include "gossamer/actors/real_time/local_world.hpp"

#include "gossamer/actors/frames/sink_table.hpp"
#include "gossamer/actors/hosting/injector.hpp"
#include "gossamer/actors/real_time/real_time.hpp"

namespace gossamer::actors {

namespace {

/// Hands frames to the actors at the other end, without a copy.
class in_process_transport final : public transport {
public:
  void attach(life who, frame_sink sink) override { sinks_.attach(who, std::move(sink)); }
  std::unique_ptr<link> link_to(rank, life to) override { return std::make_unique<in_process_link>(sinks_.find(to)); }

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

  sink_table sinks_;
};

} // namespace

run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around) {
  if (around.from)
    e = e->after(around.from->all);
  caf::actor_system_config config;
  set_scheduler(config, e->settings.threads);
  require_threads_of(*e, e->settings.workers);
  caf::actor_system system{config};
  caf::scoped_actor self{system};

  const real_time world{system, e, around, e->settings.workers};
  const scoped_life injector{system.spawn(fault_injector, injector_setup{.board = world.board(),
                                                                         .workers = e->participants(),
                                                                         .workers_per_node = around.workers_per_node,
                                                                         .masters = e->masters,
                                                                         .wishes = around.wishes})};
  const scoped_life node{spawn_run(system, e, world.parts(std::make_shared<in_process_transport>()),
                                   {.observer = around.observer,
                                    .interrupted = around.interrupted,
                                    .client = self,
                                    .steps_to = around.faults.needs_steps() ? injector.actor : caf::actor{}})};
  self->send(node.actor, start_run{});
  self->send(injector.actor, start_faults{node.actor});
  return outcome(self);
}

} // namespace gossamer::actors
