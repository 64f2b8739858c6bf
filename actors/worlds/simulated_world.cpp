#include "gossamer/actors/worlds/simulated_world.hpp"

#include "gossamer/actors/faults/faulty_link.hpp"
#include "gossamer/actors/faults/injector.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/simulation/compute_cost.hpp"
#include "gossamer/actors/simulation/cost_meter.hpp"
#include "gossamer/actors/simulation/event_queue.hpp"
#include "gossamer/actors/simulation/network_model.hpp"
#include "gossamer/actors/simulation/observed_link.hpp"
#include "gossamer/actors/simulation/standstill.hpp"
#include "gossamer/actors/worlds/sink_table.hpp"
#include "gossamer/actors/worlds/world.hpp"

#include <caf/scheduler/test_coordinator.hpp>
#include <fmt/format.h>

#include <variant>

namespace gossamer::actors {

namespace {

/// A frame that was sent leaves, because the work before it is done.
struct frame_leaves {
  sink_table::entry target;
  rank to;
  std::uint64_t number; // on its link
  frame f;
};
/// The first bit of a frame is at its receiver's card; and the last one.
struct frame_comes {
  sink_table::entry target;
  rank to;
  virtual_time sent;
  frame f;
};
struct frame_is_in {
  sink_table::entry target;
  frame f;
};
struct gradient_is_done {
  caf::actor target;
  rank who;
  gradient_result result;
};
struct postponed_is_due {
  std::function<void()> what;
};
using event = std::variant<std::monostate, frame_leaves, frame_comes, frame_is_in, gradient_is_done, postponed_is_due>;

caf::actor_system_config virtual_time_config() {
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("testing"));
  return config;
}

void deliver(const sink_table::entry& target, frame f) {
  if (target)
    (*target)(std::move(f));
}

std::size_t nodes_of_workers(const experiment& e, const simulation_settings& s) {
  return (e.settings.workers + s.workers_per_node - 1) / s.workers_per_node;
}

/// Each master has a node of its own, behind those of the workers.
std::size_t nodes_of(const experiment& e, const simulation_settings& s) { return nodes_of_workers(e, s) + e.masters; }

void check_settings(const simulation_settings& s) {
  const auto require = [](bool holds, const char* flag, auto value, const char* allowed) {
    if (!holds)
      throw error(errc::usage, fmt::format("--{} is {}, which is out of range", flag, value), allowed);
  };
  require(s.workers_per_node >= 1, "workers-per-node", s.workers_per_node, "at least 1");
  require(s.detection_s >= 0 && s.detection_s <= 1e6, "detection", s.detection_s, "allowed: 0 to 1e6 seconds");
  require(s.patience_s > 0 && s.patience_s <= 1e9, "patience", s.patience_s, "allowed: above 0, to 1e9 seconds");
}

/// Everything that the actors of one simulated run share. One thread, so nothing is locked.
class simulation final : public transport {
public:
  simulation(std::shared_ptr<const experiment> e, const simulation_settings& s, const run_surroundings& around);
  ~simulation() override;
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  simulation_result run();

  void attach(life who, frame_sink sink) override { sinks_.attach(who, std::move(sink)); }
  std::unique_ptr<link> link_to(rank from, life to) override;

  rank node_of(rank i) const {
    const auto workers = run_->settings.workers;
    return static_cast<rank>(i < workers ? i / settings_.workers_per_node
                                         : nodes_of_workers(*run_, settings_) + i - workers);
  }
  std::size_t batch() const { return run_->settings.batch; }
  virtual_time now() const noexcept { return now_; }
  cost_meter& meter() noexcept { return meter_; }
  /// Now, with the work of the present handler so far.
  virtual_time moment() const noexcept { return later(now_, meter_.spent()); }
  void leave(frame_leaves what);
  simulation_observer& observer() noexcept { return observer_; }
  void at(virtual_time time, event what) { events_.push(time, std::move(what)); }
  /// @param share of the samples of a minibatch
  virtual_time cost_of(rank who, std::uint64_t step, double share) const {
    return cost_.of(who, step, share * board_->slow_down(who));
  }

  void on_end(run_summary s) { summary_ = std::move(s); }
  void on_failure(run_failed f) { failure_ = std::move(f); }

private:
  world_parts parts();
  bool over() const { return summary_ || failure_; }
  void run_one_actor();
  void advance();
  void happen(event what);
  void on_fault(std::size_t index, bool on);
  void look_for_trouble();
  void look_for_interrupt();
  void set_time(virtual_time t);

  std::shared_ptr<const experiment> run_;
  simulation_settings settings_;
  run_surroundings around_;
  std::shared_ptr<fault_board> board_;
  std::shared_ptr<fault_count> count_ = std::make_shared<fault_count>();
  std::shared_ptr<const faulty_surroundings> faulty_;
  sink_table sinks_;
  std::vector<std::shared_ptr<compute::model>> models_; // one on each device: gradients happen one after the other

  virtual_time now_{};
  event_queue<event> events_;
  network_model network_;
  compute_cost cost_;
  std::optional<random_sequence> choice_; // which actor runs next
  std::uint64_t happened_ = 0;
  standstill standstill_{run_->participants()};
  bool interrupted_ = false;
  virtual_time last_switch_{}; // of a fault
  int passing_faults_ = 0;     // that are on, and will end
  auditor auditor_;
  cost_meter meter_;
  simulation_observer observer_;

  caf::actor_system_config config_ = virtual_time_config();
  caf::actor_system system_{config_};
  caf::scheduler::test_coordinator& scheduler_;
  caf::actor_clock::time_point began_;
  caf::actor client_, injector_, coordinator_;
  std::optional<run_summary> summary_;
  std::optional<run_failed> failure_;
};

// -- the actors and links of this world -------------------------------------------------------------------------------

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

simulation::simulation(std::shared_ptr<const experiment> e, const simulation_settings& s,
                       const run_surroundings& around)
    : run_(std::move(e)), settings_(s), around_(around),
      board_(
          std::make_shared<fault_board>(around.faults, run_->participants(), s.workers_per_node, run_->settings.seed)),
      network_(make_network(s.network, nodes_of(*run_, s),
                            s.links.empty() ? std::vector<link_override>{} : parse_link_overrides(s.links)),
               nodes_of(*run_, s), run_->settings.seed ^ s.interleaving << 32),
      cost_({.seconds_per_sample = s.sample_time_s,
             .batch = run_->settings.batch,
             .slow = run_->settings.slow,
             .jitter = s.jitter},
            run_->settings.seed ^ s.interleaving << 32),
      auditor_(run_->settings.workers, run_->algorithm->traits.exchange == exchange_pattern::bipartite,
               run_->algorithm->traits.most_steps_apart, run_->masters),
      meter_(s.cost, [this](rank who, std::span<const work_share> shares) { observer_.works(who, shares); }),
      observer_(run_->settings.workers, run_->masters, now_, meter_, s.check ? &auditor_ : nullptr, s.trace.get(),
                around.observer),
      scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
      began_(scheduler_.clock().now()) {
  for (const auto& device : run_->devices)
    models_.push_back(device.model->clone());
  faulty_ = std::make_shared<const faulty_surroundings>(
      faulty_surroundings{board_, count_, [this] { return to_seconds(moment()); },
                          [this](std::chrono::nanoseconds delay, std::function<void()> what) {
                            at(later(moment(), delay), postponed_is_due{std::move(what)});
                          },
                          run_->settings.seed, run_->pool});
  if (s.interleaving != 0)
    choice_.emplace(random_stream{s.interleaving, 0, purpose::interleaving}, run_->settings.seed);
}

simulation::~simulation() {
  for (const auto& actor : {client_, injector_, coordinator_})
    if (actor)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
  while (scheduler_.try_run_once()) {
  }
}

std::unique_ptr<link> simulation::link_to(rank from, life to) {
  std::unique_ptr<link> made = std::make_unique<simulated_link>(*this, to.who, sinks_.find(to));
  if (!around_.faults.faults.empty())
    made = make_faulty_link(from, to.who, std::move(made), faulty_);
  made = std::make_unique<observed_link>(observer_, meter_, std::move(made));
  return around_.wrap_link ? around_.wrap_link(from, to.who, std::move(made)) : std::move(made);
}

world_parts simulation::parts() {
  world_parts parts;
  parts.spawn_compute = [this](caf::local_actor* parent, rank who) {
    auto source = std::make_shared<gradient_source>(run_, who, models_[who % models_.size()]);
    return parent->spawn(simulated_compute, this, std::move(source), who, caf::actor_cast<caf::actor>(parent));
  };
  parts.spawn_evaluator = [this](const caf::actor& coordinator) {
    return system_.spawn(evaluator_actor, run_, coordinator);
  };
  parts.transport = std::shared_ptr<transport>{std::shared_ptr<transport>{}, this}; // which outlives its actors
  parts.acknowledged = !around_.faults.faults.empty();
  parts.detection = from_seconds(settings_.detection_s);
  parts.witness = &observer_;
  parts.clock = &meter_;
  return parts;
}

// -- what happens next ------------------------------------------------------------------------------------------------

simulation_result simulation::run() {
  client_ = system_.spawn(client_actor, this);
  injector_ = system_.spawn(fault_injector, board_, run_->participants(), settings_.workers_per_node,
                            std::function([this](std::size_t fault, bool on) { on_fault(fault, on); }));
  coordinator_ = spawn_run(system_, run_, parts(), &observer_, around_.interrupted, client_,
                           around_.faults.needs_steps() ? injector_ : caf::actor{});
  caf::anon_send(coordinator_, start_run{});
  caf::anon_send(injector_, start_faults{coordinator_});
  while (!over()) {
    scheduler_.has_job() ? run_one_actor() : advance();
    standstill_.count(now_);
    look_for_interrupt();
    if (auditor_.broken())
      throw broken_promise(fmt::format("at {:.9g} s: {}", to_seconds(now_), *auditor_.broken()));
  }
  if (failure_)
    throw error(failure_->code, failure_->sentence, failure_->remedy);
  if (summary_->unfinished == 0)
    auditor_.check_halves();
  if (settings_.check && auditor_.broken())
    throw broken_promise("after the last step: " + *auditor_.broken());
  observer_.blame().finish(now_.count());
  return {.summary = *summary_,
          .hash = observer_.hash(),
          .events = happened_,
          .frames_lost = count_->lost,
          .frames_rejected = count_->rejected,
          .frames_duplicated = count_->duplicated,
          .blame = observer_.blame(),
          .time_used = observer_.time_used()};
}

void simulation::run_one_actor() {
  auto& jobs = scheduler_.jobs;
  if (choice_ && jobs.size() > 1)
    std::swap(jobs.front(), jobs[choice_->below(static_cast<std::uint32_t>(jobs.size()))]);
  scheduler_.run_once();
}

/// Nobody can do anything now: goes to the next moment at which somebody can.
void simulation::advance() {
  ++happened_;
  const auto& timers = scheduler_.clock().schedule();
  const auto timer = timers.empty() ? end_of_time : virtual_time{timers.begin()->first - began_};
  if (events_.empty() || timer < events_.top_time()) {
    set_time(std::max(now_, timer));
    scheduler_.trigger_timeout();
  } else {
    set_time(events_.top_time());
    happen(events_.pop());
    while (choice_ && !events_.empty() && events_.top_time() == now_) // they may be seen in any order
      happen(events_.pop());
  }
  look_for_trouble();
}

void simulation::set_time(virtual_time t) {
  if (t > now_)
    standstill_.over();
  now_ = t;
  scheduler_.clock().current_time = began_ + t;
}

void simulation::leave(frame_leaves what) {
  const auto from = node_of(what.f.source), to = node_of(what.to);
  const auto flight = network_.send(now_, from, to, what.f.wire_bytes(), what.number);
  at(flight.arrives, frame_comes{std::move(what.target), what.to, now_, std::move(what.f)});
}

void simulation::happen(event what) {
  if (auto* leaves = std::get_if<frame_leaves>(&what)) {
    leave(std::move(*leaves));
  } else if (auto* comes = std::get_if<frame_comes>(&what)) {
    const auto from = node_of(comes->f.source), to = node_of(comes->to);
    const auto received = network_.receive(now_, to, from, comes->f.wire_bytes());
    observer_.flies(comes->to, comes->f, comes->sent, received);
    if (received == now_)
      deliver(comes->target, std::move(comes->f));
    else
      at(received, frame_is_in{std::move(comes->target), std::move(comes->f)});
  } else if (auto* in = std::get_if<frame_is_in>(&what)) {
    deliver(in->target, std::move(in->f));
  } else if (auto* done = std::get_if<gradient_is_done>(&what)) {
    standstill_.over();
    observer_.computed(done->who, done->result.step, done->result.loss);
    caf::anon_send(done->target, std::move(done->result));
  } else if (auto* due = std::get_if<postponed_is_due>(&what)) {
    due->what();
  }
}

void simulation::on_fault(std::size_t index, bool on) {
  const auto& f = board_->plan().faults[index];
  observer_.fault(describe(f), on);
  last_switch_ = now_;
  if (f.lasts_s)
    on ? ++passing_faults_ : --passing_faults_;
}

void simulation::look_for_trouble() {
  const auto quiet_since = std::max({observer_.last_step(), last_switch_, from_seconds(board_->plan().last_end_s())});
  if (!settings_.check || passing_faults_ > 0 || now_ - quiet_since <= from_seconds(settings_.patience_s))
    return;
  throw broken_promise(fmt::format("at {:.9g} s: no step since {:.9g} s, and no fault is left: {}", to_seconds(now_),
                                   to_seconds(observer_.last_step()), observer_.who_waits()));
}

/// The coordinator looks every tenth of a virtual second, which may take hours, or not come.
void simulation::look_for_interrupt() {
  if (interrupted_ || !(interrupted_ = around_.interrupted && around_.interrupted()))
    return;
  standstill_.hurry();
  caf::anon_send(coordinator_, tick{});
}

} // namespace

simulation_result simulate(std::shared_ptr<const experiment> e, const simulation_settings& s,
                           const run_surroundings& around) {
  check_settings(s);
  return simulation{std::move(e), s, around}.run();
}

} // namespace gossamer::actors
