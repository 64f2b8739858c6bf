// The actors and links of the simulated world.
#include "gossamer/actors/simulated/detail/simulation.hpp"

#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/hosting/evaluator.hpp"
#include "gossamer/actors/hosting/injector.hpp"
#include "gossamer/actors/simulation/observed_link.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

class simulated_link final : public link {
public:
  /// @param first number of its first frame
  simulated_link(simulation& world, rank to, sink_table::entry target, std::uint64_t first)
      : world_(world), to_(to), target_(std::move(target)), number_(first) {}

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
  std::uint64_t number_;
};

/// Computes real gradients at once, and answers when their time is over. It ends with its worker, the only one that
/// knows it.
caf::behavior simulated_compute(caf::event_based_actor* self, simulation* world,
                                std::shared_ptr<gradient_source> source, std::shared_ptr<simulated_gradients> all,
                                rank who, caf::actor supervisor) {
  report_exceptions_to(self, supervisor, fmt::format("the compute actor of worker {}", who));
  self->monitor(supervisor);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  const std::shared_ptr<simulated_gradients> gradients{all.get(),
                                                       [all](auto* of_this_life) { of_this_life->end_life(); }};
  return {[=](const gradient_job& job) {
            const auto share = static_cast<double>(source->samples_of(job)) / static_cast<double>(world->batch());
            gradients->begin(caf::actor_cast<caf::actor>(self->current_sender()), world->cost_of(who, job.step, share),
                             source->compute(job));
          },
          [=](pause_work) { gradients->stand_still(); }, [=](resume_work) { gradients->go_on(); }};
}

/// Carries data for evaluations between nodes of different processes: as control messages travel, and uncounted.
class aside_link final : public link {
public:
  aside_link(simulated_processes& all, std::uint32_t from, std::uint32_t to, std::function<sink_table::entry()> target)
      : all_(all), from_(from), to_(to), target_(std::move(target)) {}

  void send(frame f) override {
    all_.carry(from_, to_, [target = target_(), f = std::move(f)]() mutable {
      if (target)
        (*target)(std::move(f));
    });
  }

private:
  simulated_processes& all_;
  std::uint32_t from_, to_;
  std::function<sink_table::entry()> target_;
};

/// Carries out the injector's orders on the processes of a run.
caf::behavior messenger(caf::event_based_actor*, simulated_processes* all) {
  return {[=](const kill_worker& m) { all->tell_home_of(m.who, m); },
          [=](const restart_worker& m) { all->tell_home_of(m.who, m); },
          [=](const retire_worker& m) { all->tell_home_of(m.who, m); },
          [=](const pause_worker& m) { all->tell_home_of(m.who, m); }, [=](const run_event& m) { all->tell_all(m); }};
}

caf::behavior client_of_processes(caf::event_based_actor* self, simulation* world) {
  self->set_default_handler(caf::drop);
  return {[=](run_summary& s) { world->on_end(std::move(s)); },
          [=](const run_failed& f) {
            world->processes()->on_failure(self->current_sender(), f);
            self->send(caf::actor_cast<caf::actor>(self->current_sender()),
                       leave_run{.why = f.sentence, .code = f.code});
          },
          [=](const leave_run& m) { self->send(caf::actor_cast<caf::actor>(self->current_sender()), m); },
          [=](const node_has_left&) { world->processes()->on_departure(self->current_sender()); }};
}

caf::behavior client_actor(caf::event_based_actor* self, simulation* world) {
  self->set_default_handler(caf::drop);
  return {[=](run_summary& s) { world->on_end(std::move(s)); },
          [=](run_failed& f) { world->on_failure(std::move(f)); }};
}

} // namespace

void simulation::attach(life who, frame_sink sink) {
  sinks_.attach(who, std::move(sink));
  if (auto early = early_.extract(who))
    for (auto& f : early.mapped())
      hand_over(who, std::move(f));
}

void simulation::hand_over(life to, frame f) {
  if (const auto target = sinks_.find(to))
    (*target)(std::move(f));
  else if (!sinks_.is_over(to))
    early_[to].push_back(std::move(f));
}

/// Returns the target of frames for a life. One process may know of the life before it has begun in another.
sink_table::entry simulation::target_of(life to) {
  if (!processes_)
    return sinks_.find(to);
  return std::make_shared<const frame_sink>([this, to](frame f) { hand_over(to, std::move(f)); });
}

/// Numbers of frames between two nodes differ, so that each draws its own delay: links that share the nodes, or lead to
/// a later life, have their own.
std::uint64_t simulation::first_number(rank from, life to) {
  constexpr int most_frames = 24; // in bits
  const auto from_node = node_of(from), to_node = node_of(to.who);
  const bool is_only_one = from == from_node && to.who == to_node && to.incarnation == 0;
  return is_only_one ? 0 : ++later_links_[{from_node, to_node}] << most_frames;
}

std::unique_ptr<link> simulation::link_to(rank from, life to) {
  if (to.who >= run_->participants())
    return std::make_unique<aside_link>(*processes_, processes_->home_of(from), processes_->home_of(to.who),
                                        [this, to] { return sinks_.find(to); });
  std::unique_ptr<link> made = std::make_unique<simulated_link>(*this, to.who, target_of(to), first_number(from, to));
  if (around_.faults.harms())
    made = make_faulty_link(from, to.who, std::move(made), faulty_);
  made = std::make_unique<observed_link>(observer_, meter_, are_apart(islands(), from, to.who), std::move(made));
  return around_.wrap_link ? around_.wrap_link(from, to.who, std::move(made)) : std::move(made);
}

/// The islands of the network, or, where it has none, those of the run.
island_map simulation::islands() const {
  if (!network_.links().island(0))
    return run_->named_islands();
  return [this](rank i) { return *network_.links().island(node_of(i)); };
}

world_parts simulation::parts(std::uint32_t node) {
  world_parts parts;
  parts.islands = islands();
  parts.spawn_compute = [this](caf::local_actor* parent, rank who, std::uint32_t random_life) {
    auto source = std::make_shared<gradient_source>(run_, who, random_life, models_[who % models_.size()]);
    gradients_[who] = std::make_shared<simulated_gradients>(*this, who);
    return parent->spawn(simulated_compute, this, std::move(source), gradients_[who], who,
                         caf::actor_cast<caf::actor>(parent));
  };
  parts.spawn_evaluator = [this, node](const caf::actor& supervisor) {
    if (!processes_)
      return spawn_evaluator(system_, {.run = run_, .supervisor = supervisor});
    auto started = spawn_evaluator(
        system_, {.run = run_, .node = node, .homes = homes_, .net = shared_transport(), .supervisor = supervisor});
    sinks_.attach(evaluating_life(run_->participants(), node),
                  [started](frame f) { caf::anon_send(started, std::move(f)); });
    return started;
  };
  add_checkpoints(parts, system_, *run_, around_, false);
  parts.transport = shared_transport();
  parts.acknowledged = around_.faults.harms();
  parts.detection = from_seconds(settings_.detection_s);
  parts.witness = &observer_;
  parts.on_checkpoint = [this](std::uint64_t number) { auditor_.completes(number); };
  parts.clock = &meter_;
  parts.faults = board_;
  return parts;
}

void simulation::spawn_actors() {
  injector_ = system_.spawn(fault_injector,
                            injector_setup{.board = board_,
                                           .workers = run_->participants(),
                                           .workers_per_node = settings_.workers_per_node,
                                           .masters = run_->masters,
                                           .on_switch = [this](std::size_t fault, bool on) { on_fault(fault, on); },
                                           .wishes = around_.wishes});
  if (settings_.processes || around_.faults.strikes_processes())
    return spawn_processes();
  client_ = system_.spawn(client_actor, this);
  node_ = spawn_run(system_, run_, parts(),
                    {.observer = &observer_,
                     .interrupted = around_.interrupted,
                     .client = client_,
                     .steps_to = around_.faults.needs_steps() ? injector_ : caf::actor{}});
  caf::anon_send(node_, start_run{});
  caf::anon_send(injector_, start_faults{node_});
}

void simulation::spawn_processes() {
  client_ = system_.spawn(client_of_processes, this);
  processes_.emplace(
      system_,
      simulated_processes::surroundings{
          .run = run_,
          .homes = homes_,
          .parts = [this](std::uint32_t node) { return parts(node); },
          .observe =
              [this] {
                return std::shared_ptr<run_observer>{std::shared_ptr<void>{}, &observer_};
              },
          .interrupted = around_.interrupted,
          .client = client_,
          .steps_to = around_.faults.needs_steps() ? injector_ : caf::actor{},
          .latency = [this](rank from, rank to, std::uint64_t number) { return network_.latency(from, to, number); },
          .now = [this] { return now_; },
          .at = [this](virtual_time when, std::function<void()> what) { at(when, postponed_is_due{std::move(what)}); },
          .board = board_,
          .workers_per_node = settings_.workers_per_node,
          .detection = from_seconds(settings_.detection_s),
          .patience = from_seconds(settings_.process_patience_s),
          .prepare = from_seconds(settings_.prepare_s),
          .on_resolution = [this](std::uint32_t node, const consensus::resolution& r) { auditor_.resolves(node, r); },
          .tell =
              [this](const std::string& what) {
                observer_.on_event({to_seconds(now_), event_kind::note, what});
              },
          .fail = [this](run_failed why) { on_failure(std::move(why)); },
          .complain = [this](std::string what) { complain(std::move(what)); },
          .quiet_since = [this] { return quiet_since(); }});
  processes_->begin();
  node_ = system_.spawn(messenger, &*processes_);
  caf::anon_send(injector_, start_faults{node_});
}

} // namespace gossamer::actors::detail
