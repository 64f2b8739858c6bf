#include "gossamer/actors/simulated/simulated_world.hpp"

#include "gossamer/actors/node/rendezvous.hpp"
#include "gossamer/actors/simulated/detail/simulation.hpp"
#include "gossamer/actors/simulation/network.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::actors {

namespace detail {

namespace {

void deliver(const sink_table::entry& target, frame f) {
  if (target)
    (*target)(std::move(f));
}

std::size_t nodes_of_workers(const experiment& e, const simulation_settings& s) {
  return (e.settings.worker_ranks() + s.workers_per_node - 1) / s.workers_per_node;
}

/// Each master has a node of its own, behind those of the workers.
std::size_t nodes_of(const experiment& e, const simulation_settings& s) { return nodes_of_workers(e, s) + e.masters; }

std::shared_ptr<const network> network_of(const experiment& e, const simulation_settings& s) {
  auto named = make_network(s.network, nodes_of(e, s),
                            s.links.empty() ? std::vector<link_override>{} : parse_link_overrides(s.links));
  return s.bandwidth_factor == 1 ? named : with_bandwidth_times(s.bandwidth_factor, std::move(named));
}

/// Deals ranks out as `launch` does to the processes of its hosts.
std::vector<rank> homes_on(const hosts_file& file, const experiment& e, const simulation_settings& s) {
  if (file.slots() > e.settings.worker_ranks())
    throw error(errc::usage, fmt::format("{} nodes cannot share {} workers", file.slots(), e.settings.worker_ranks()),
                "each slot of a host has at least one: use more --workers");
  if (s.workers_per_node != 1)
    throw error(
        errc::usage,
        fmt::format("--workers-per-node is {}, but the hosts say who shares a network card", s.workers_per_node),
        "leave it out");
  return file.homes(e.settings.worker_ranks(), e.masters);
}

std::vector<rank> homes_of(const network& net, const experiment& e, const simulation_settings& s) {
  if (net.hosts() != nullptr)
    return homes_on(*net.hosts(), e, s);
  std::vector<rank> result(e.participants());
  for (rank i = 0; i < result.size(); ++i)
    result[i] = static_cast<rank>(!e.is_master(i) ? i / s.workers_per_node
                                                  : nodes_of_workers(e, s) + i - e.settings.worker_ranks());
  return result;
}

std::size_t size_of(const network& net, const experiment& e, const simulation_settings& s) {
  return net.hosts() != nullptr ? net.hosts()->hosts.size() : nodes_of(e, s);
}

/// Returns the seconds per sample of workers whose hosts have been measured.
std::map<rank, double> measured_times(const network& net, std::span<const rank> homes) {
  std::map<rank, double> result;
  if (net.hosts() != nullptr)
    for (rank i = 0; i < homes.size(); ++i)
      if (const auto& time = net.hosts()->hosts[homes[i]].seconds_per_sample)
        result[i] = *time;
  return result;
}

void check_settings(const simulation_settings& s) {
  const auto require = [](bool holds, const char* flag, auto value, const char* allowed) {
    if (!holds)
      throw error(errc::usage, fmt::format("--{} is {}, which is out of range", flag, value), allowed);
  };
  require(s.workers_per_node >= 1, "workers-per-node", s.workers_per_node, "at least 1");
  require(s.detection_s >= 0 && s.detection_s <= 1e6, "detection", s.detection_s, "allowed: 0 to 1e6 seconds");
  require(s.process_patience_s >= 1 && s.process_patience_s <= 1e6, "process-patience", s.process_patience_s,
          "allowed: 1 to 1e6 seconds; processes let hear of them twice a second");
  require(s.prepare_s >= 0 && s.prepare_s <= 1e6, "prepare", s.prepare_s, "allowed: 0 to 1e6 seconds");
  require(s.patience_s > 0 && s.patience_s <= 1e9, "patience", s.patience_s, "allowed: above 0, to 1e9 seconds");
}

caf::actor_system_config& with_virtual_time(caf::actor_system_config& config) {
  config.set("scheduler.policy", caf::atom("testing"));
  return config;
}

/// The kinds that can keep others waiting, the likeliest to keep them waiting for ever first.
constexpr std::array blamed{fault_kind::pause,    fault_kind::partition, fault_kind::drop,    fault_kind::corrupt,
                            fault_kind::throttle, fault_kind::delay,     fault_kind::reorder, fault_kind::slow};

} // namespace

simulation::simulation(const std::shared_ptr<const experiment>& e, const simulation_settings& s,
                       const run_surroundings& around)
    : simulation(e, s, around, network_of(*e, s)) {}

simulation::simulation(std::shared_ptr<const experiment> e, const simulation_settings& s,
                       const run_surroundings& around, const std::shared_ptr<const network>& net)
    : run_(std::move(e)), settings_(s), around_(around),
      board_(
          std::make_shared<fault_board>(around.faults, run_->participants(), s.workers_per_node, run_->settings.seed)),
      homes_(homes_of(*net, *run_, s)),
      network_(net, size_of(*net, *run_, s), run_->settings.seed ^ s.interleaving << 32),
      cost_({.seconds_per_sample = s.sample_time_s,
             .batch = run_->settings.batch,
             .measured = measured_times(*net, homes_),
             .slow = run_->settings.slow,
             .jitter = s.jitter},
            run_->settings.seed ^ s.interleaving << 32),
      auditor_(run_->settings.worker_ranks(), run_->averages_pairs(), run_->last_step_beside(), run_->masters,
               run_->islands),
      meter_(s.cost, run_->known.codecs,
             [this](rank who, std::span<const work_share> shares) { observer_.works(who, shares); }),
      observer_(run_->settings.worker_ranks(), run_->masters, now_, meter_, s.check ? &auditor_ : nullptr,
                s.trace.get(), around.observer),
      system_(with_virtual_time(config_)),
      scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
      began_(scheduler_.clock().now()), gradients_(run_->participants()) {
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
  events_ = {}; // when memory has ended, this makes room for what follows
  if (processes_)
    processes_->end();
  for (const auto& actor : {client_, injector_, node_})
    if (actor)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
  while (scheduler_.try_run_once()) {
  }
  events_ = {}; // messages of the last of them
  // Only this thread runs actors: one that still counts as living could not be made when memory ended.
  system_.await_actors_before_shutdown(false);
}

// -- the next event ---------------------------------------------------------------------------------------------------

simulation_result simulation::run() {
  spawn_actors();
  while (!over()) {
    if (scheduler_.has_job())
      run_one_actor();
    else
      advance();
    standstill_.count(now_);
    look_for_interrupt();
    if (const auto& broken = broken_ ? broken_ : auditor_.broken())
      throw broken_promise(fmt::format("at {:.9g} s: {}", to_seconds(now_), *broken));
  }
  if (failure_)
    throw error(failure_->code, failure_->sentence, failure_->remedy);
  if (summary_->unfinished == 0)
    auditor_.check_halves();
  if (settings_.check && auditor_.broken())
    throw broken_promise("after the last step: " + *auditor_.broken());
  for (const auto& one : gradients_)
    if (one)
      one->book();
  return {.summary = *summary_,
          .hash = observer_.hash(),
          .events = happened_,
          .frames_lost = count_->lost,
          .frames_rejected = count_->rejected,
          .frames_duplicated = count_->duplicated,
          .gradients_lost = observer_.gradients_lost(),
          .blame = observer_.blame(now_),
          .time_used = observer_.time_used()};
}

void simulation::run_one_actor() {
  auto& jobs = scheduler_.jobs;
  if (choice_ && jobs.size() > 1)
    std::swap(jobs.front(), jobs[choice_->below(static_cast<std::uint32_t>(jobs.size()))]);
  scheduler_.run_once();
}

/// Goes to the next moment at which an actor can do something: none can now.
void simulation::advance() {
  ++happened_;
  const bool is_under_way = !events_.empty(); // a frame or a gradient, or whoever gets it is about to run
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
  look_for_trouble(is_under_way);
}

void simulation::at(virtual_time time, event what) { events_.push(time, std::move(what)); }

void simulation::set_time(virtual_time t) {
  if (t > now_)
    standstill_.over();
  now_ = t;
  scheduler_.clock().current_time = began_ + t;
}

void simulation::leave(frame_leaves what) {
  if (!processes_)
    return fly(std::move(what));
  const auto from = node_of(what.f.source), to = node_of(what.to);
  processes_->carry_frame(from, to,
                          [this, waits = std::make_shared<frame_leaves>(std::move(what))] { fly(std::move(*waits)); });
}

void simulation::fly(frame_leaves what) {
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
  } else if (auto* gradient = std::get_if<gradient_is_due>(&what)) {
    if (gradient->of->look())
      standstill_.over();
  } else if (auto* due = std::get_if<postponed_is_due>(&what)) {
    due->what();
  }
}

void simulation::on_fault(std::size_t index, bool on) {
  const auto& f = board_->at(index);
  observer_.fault(describe(f), on);
  last_switch_ = now_;
  if (processes_)
    processes_->on_fault(index, f, on);
  if (on && !f.lasts_s)
    endless_.push_back(index);
  else if (on)
    ++passing_faults_;
  else if (std::erase(endless_, index) == 0) // else it was healed
    --passing_faults_;
}

/// Returns the fault that is on, will never end, and is the likeliest to keep others waiting, if there is one.
std::optional<fault> simulation::endless_fault() const {
  for (const auto kind : blamed)
    for (const auto index : endless_)
      if (auto f = board_->at(index); f.kind == kind)
        return f;
  return std::nullopt;
}

virtual_time simulation::quiet_since() const {
  const bool is_quiet = passing_faults_ == 0 && !endless_fault();
  return is_quiet ? std::max(last_switch_, from_seconds(board_->last_end_s())) : end_of_time;
}

/// Returns a master that is gone with its process: no other takes its place.
std::optional<rank> simulation::lost_master() const {
  for (auto i = static_cast<rank>(run_->settings.worker_ranks()); processes_ && i < run_->participants(); ++i)
    if (!processes_->has(i))
      return i;
  return std::nullopt;
}

void simulation::look_for_trouble(bool is_under_way) {
  const auto nothing_since = std::max({observer_.last_progress(), last_switch_, from_seconds(board_->last_end_s())});
  if (!settings_.check || passing_faults_ > 0 || now_ - nothing_since <= from_seconds(settings_.patience_s))
    return;
  const auto silence =
      fmt::format("at {:.9g} s: no step since {:.9g} s", to_seconds(now_), to_seconds(observer_.last_step()));
  if (const auto f = endless_fault())
    throw error(errc::failed,
                fmt::format("{}, and a fault never ends; {}; {}", silence, describe(*f), observer_.who_waits()),
                "give the fault an end (for = ...), or raise --patience where a frame or a gradient takes so long");
  if (const auto master = lost_master())
    throw error(errc::failed, fmt::format("{}: {} is lost with its process", silence, run_->name_of(*master)),
                "nobody takes its place: have its process started again, or cut it off for less than the patience");
  if (!is_under_way) // else that may take however long
    throw broken_promise(fmt::format("{}, and no fault is left; {}", silence, observer_.who_waits()));
}

/// Wakes the nodes at an interrupt: a node looks every tenth of a virtual second only, which may take hours, or not
/// come.
void simulation::look_for_interrupt() {
  if (interrupted_ || !around_.interrupted || !around_.interrupted())
    return;
  interrupted_ = true;
  standstill_.hurry();
  if (processes_)
    processes_->tell_all(tick{});
  else
    caf::anon_send(node_, tick{});
}

} // namespace detail

simulation_result simulate(const std::shared_ptr<const experiment>& e, const simulation_settings& s,
                           const run_surroundings& around) {
  detail::check_settings(s);
  return detail::simulation{around.from ? e->after(around.from->all) : e, s, around}.run();
}

} // namespace gossamer::actors
