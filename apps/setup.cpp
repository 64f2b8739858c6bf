#include "gossamer/apps/detail/setup.hpp"

#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/actors/simulation/compute_cost.hpp"
#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/within_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace gossamer::apps {

namespace {

constexpr double factor_of_messages = 1.5; // on the time of the gradients, as a guess
/// A network is slow where a model takes so many times as long as a gradient, and a run is longer than estimated from
/// this factor on: plans that seeds have drawn before shall stay as they are.
constexpr double slow_network = 10, much_longer = 2;
constexpr int trial_looks = 20'000; // of a trial run, at whether it shall end: once for each message or event

/// Mixes two numbers into one seed.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto words = philox4x32_10({low(a), low(a >> 32), low(b), low(b >> 32)}, {0x676F7373u, 0x6368616Fu});
  return words[0] | std::uint64_t{words[1]} << 32;
}

/// Estimates the time of a run from the cost of its gradients.
double estimated_seconds(const actors::experiment& e, double sample_time_s) {
  const auto& s = e.settings;
  const auto steps = static_cast<double>(e.steps_per_worker) - e.done.steps;
  const auto planned = steps * static_cast<double>(s.batch) * sample_time_s * factor_of_messages;
  return std::clamp(std::min(planned, s.seconds.value_or(planned)), 1e-3, 1e9);
}

std::shared_ptr<const actors::network> network_of(const actors::simulation_settings& s, std::size_t nodes) {
  return actors::make_network(
      s.network, nodes, s.links.empty() ? std::vector<actors::link_override>{} : actors::parse_link_overrides(s.links));
}

/// Returns the number of nodes: those of the workers, and one for each master.
std::size_t nodes_of(const run_options& o, std::size_t masters) {
  return (o.run.worker_ranks() + o.world.workers_per_node - 1) / o.world.workers_per_node + masters;
}

/// True if a model is far longer under way than a worker computes a gradient.
bool has_slow_network(const actors::experiment& e, const run_options& o) {
  const auto net = network_of(o.world, nodes_of(o, e.masters));
  const auto nodes = static_cast<actors::rank>(net->hosts() ? net->hosts()->hosts.size() : nodes_of(o, e.masters));
  const auto bits = 8.0 * sizeof(float) * static_cast<double>(e.initial.size());
  double longest = 0; // of a ring
  for (actors::rank i = 0; nodes > 1 && i < nodes; ++i) {
    const auto link = net->link(i, (i + 1) % nodes);
    longest = std::max(longest, link.latency_s + bits / (link.bits_per_second * o.world.bandwidth_factor));
  }
  return longest > slow_network * static_cast<double>(e.settings.batch) * o.world.sample_time_s;
}

/// Returns the length of the run without faults, or what its beginning lets expect. Absent where it fails: the run
/// itself will tell why.
std::optional<double> tried_seconds(const actors::experiment& e, const run_options& o,
                                    const std::shared_ptr<const actors::resumption>& from) {
  const auto same = std::make_shared<actors::experiment>(e);
  same->settings.seed = 1; // so that all seeds have the same horizon
  auto world = o.world;
  world.interleaving = 0; // and all interleavings
  auto looks = trial_looks;
  try {
    const auto tried =
        actors::simulate(same, world, {.interrupted = [&looks] { return looks == 0 || --looks == 0; }, .from = from});
    const auto& s = tried.summary;
    double done = 0;
    for (const auto steps : s.steps_per_worker)
      done += static_cast<double>(steps) - e.done.steps;
    const auto wanted =
        static_cast<double>(s.steps_per_worker.size()) * (static_cast<double>(e.steps_per_worker) - e.done.steps);
    const auto all =
        s.end == actors::run_end::interrupted ? s.final.time_s * wanted / std::max(1.0, done) : s.final.time_s;
    return std::clamp(std::min(all, e.settings.seconds.value_or(all)), 1e-3, 1e9);
  } catch (const error&) {
    return std::nullopt;
  }
}

/// Returns the time that a random plan of faults is for.
double horizon_of(const actors::experiment& e, const run_options& o,
                  const std::shared_ptr<const actors::resumption>& from) {
  const auto estimated = estimated_seconds(e, o.world.sample_time_s);
  if (!has_slow_network(e, o))
    return estimated;
  const auto tried = tried_seconds(e, o, from);
  return tried && *tried > much_longer * estimated ? *tried : estimated;
}

/// Seconds a sample on this machine, whose processors the workers share.
double shared_sample_time(const actors::experiment& e) {
  const double processors = std::max(1u, std::thread::hardware_concurrency());
  return actors::measure_sample_time(e) * std::max(1.0, static_cast<double>(e.settings.workers) / processors);
}

/// The islands of the workers, as `--islands` names them.
std::string islands_of(const actors::network& net, const run_options& o) {
  const auto workers = o.run.workers;
  const auto ranks = std::max(workers, o.run.worker_ranks());
  const auto homes = net.hosts() != nullptr ? net.hosts()->homes(ranks) : std::vector<actors::rank>{};
  std::vector<std::size_t> islands;
  for (std::size_t i = 0; i < workers; ++i) {
    const auto node = homes.empty() ? static_cast<actors::rank>(i / o.world.workers_per_node) : homes[i];
    const auto island = net.island(node);
    if (!island)
      throw error(errc::usage,
                  fmt::format("--islands is 'hosts', but the network '{}' has no islands", o.world.network),
                  "choose the network islands or hosts, or give the number of islands, or the workers of each");
    islands.push_back(*island);
  }
  return topology::islands_text(islands);
}

/// Checks the settings of the world. If no number of workers is given, and the network knows the hosts, there is one
/// worker for each process there, as in `launch`.
void check_world(const program& p, run_options& o) {
  const auto& s = o.world;
  const auto [algorithm, given] = p.known().algorithms.resolve(o.run.algorithm);
  const auto masters = algorithm.masters ? algorithm.masters(given) : 0;
  const auto net = network_of(s, nodes_of(o, masters));
  if (net->hosts() != nullptr && !o.workers_given)
    o.run.workers = net->hosts()->slots();
  if (o.run.islands == "hosts")
    o.run.islands = islands_of(*net, o);
  actors::make_compute_jitter(s.jitter);
}

/// Returns the costs that are known before there is a run.
actors::work_costs costs_of(const program& p, const std::string& named) {
  if (named == "none")
    return {};
  return names_a_file(named) ? actors::read_costs(named, p.known().codecs) : actors::default_costs();
}

/// Refuses plans in which masters come or leave: no other process has a master's state, and one that dies is started
/// anew.
void check_that_masters_stay(const actors::fault_plan& plan, const actors::experiment& e,
                             std::size_t workers_per_node) {
  for (const auto& f : plan.faults) {
    if (f.kind != actors::fault_kind::leave && f.kind != actors::fault_kind::join)
      continue;
    for (const auto i : named_workers(f, e.participants(), workers_per_node))
      if (e.is_master(i))
        throw error(errc::usage,
                    fmt::format("{}: this {} names {}, which is {}, and masters neither come nor leave",
                                f.written_at.text, to_string(f.kind), i, e.name_of(i)),
                    fmt::format("name workers: 0 to {}, or more with --max-workers", e.settings.worker_ranks() - 1));
  }
}

/// Refuses a checkpoint whose run differs in a setting that its state depends on.
void check_same(const std::string& what, const std::string& before, const std::string& now, const std::string& run) {
  if (before != now)
    throw error(errc::usage, fmt::format("--{} is {}, and the run in {} was one of {}", what, now, run, before),
                "a run goes on as what it was: leave the flag out");
}

/// True for two things of a kind that a program brings itself: they know what their words mean to its user.
template <class Entry>
bool are_own(const registry<Entry>& built_in, const std::string& one, const std::string& other) {
  const auto name = spec::parse(one).name;
  return name == spec::parse(other).name && std::ranges::count(built_in.names(), name) == 0;
}

/// Refuses a checkpoint of another model, or of other data. A program's own refuse to be made as the run has them, in
/// words of their own.
void check_same_task(const actors::run_settings& was, const actors::experiment& e, const std::string& run) {
  const auto& is = e.settings;
  if (was.model != is.model && are_own(compute::models(), was.model, is.model))
    compute::make_model(was.model, e.data.train, e.known.models);
  check_same("model", was.model, is.model, run);
  if (was.data != is.data && are_own(compute::data_sources(), was.data, is.data))
    compute::load_data(was.data, is.seed, is.data_dir, is.files, e.known.data);
  check_same("data", was.data, is.data, run);
}

/// Refuses data that have changed since, under the same name: a file has other lines, or other digits are drawn.
void check_same_data(const actors::experiment& e, const std::string& run) {
  if (has_data_of(e, run))
    return;
  throw error(
      errc::bad_data, fmt::format("the data {} are not those that the run in {} was trained on", e.settings.data, run),
      "bring back the files, or the --seed, of that time; or begin another run with its model: gossamer export, "
      "and --initial");
}

/// Refuses runs that exceed the memory of the machine, where each worker or master has at least a model and a gradient.
/// The system grants more memory than it has, and would kill the run when it is used.
std::shared_ptr<const actors::experiment> prepare_within_memory(const program& p, run_options& o) {
  if (!o.run.lr && !o.resume.empty())
    o.run.lr = options_of(o.resume).run.lr; // there may have been another number of workers
  auto e = actors::prepare(o.run, p.known());
  const auto needed = std::uint64_t{e->participants()} * 2 * sizeof(float) * e->initial.size();
  if (!e->devices.front().where.on_gpu() && needed > physical_memory())
    throw error(errc::usage,
                fmt::format("{} workers with a model of {} parameters take {} of memory at least, and this machine has "
                            "{}",
                            o.run.workers, e->initial.size(), byte_count(needed), byte_count(physical_memory())),
                "use fewer workers or a smaller --model; gossamer launch has them on several machines");
  return e;
}

std::shared_ptr<const actors::experiment> going_on(const program& p, const actors::experiment& e,
                                                   const actors::resumption& from, const std::string& run) {
  check_same_data(e, run);
  auto result = e.after(from.all);
  if (result->has_nothing_left())
    p.say(fmt::format("nothing is left to train: checkpoint {} is after {:.4g} epochs, and {:.4g} are wanted; "
                      "more --epochs or --steps train on",
                      from.all.checkpoint, result->epoch_of(result->done.updates),
                      std::min(e.planned_epochs, result->planned_epochs)));
  return result;
}

} // namespace

run_options options_of(const std::string& run) {
  run_options result;
  read_config_of(run, simulate_options(), result);
  return result;
}

std::shared_ptr<const actors::resumption> resumption_of(const program& p, const run_options& o,
                                                        const actors::experiment& e) {
  if (o.resume.empty())
    return nullptr;
  std::error_code none;
  if (std::filesystem::equivalent(o.resume, o.out, none))
    throw error(errc::usage, fmt::format("--out is {}, the run that is gone on with", o.out),
                "choose another folder: what was saved must not be overwritten by what may fail");
  const auto was = options_of(o.resume).run;
  const auto& is = e.settings;
  check_same("algorithm", was.algorithm, is.algorithm, o.resume);
  check_same_task(was, e, o.resume);
  check_same("optimiser", was.optimiser, is.optimiser, o.resume);
  const auto say = [&p](const std::string& what) { p.say(what); };
  auto from = newest_checkpoint(o.resume, o.parts_elsewhere, say);
  if (from.all.masters != e.masters)
    throw error(errc::bad_data, fmt::format("the checkpoint in {} is of a run with {} masters, this one has {}",
                                            o.resume, from.all.masters, e.masters));
  return std::make_shared<const actors::resumption>(std::move(from));
}

actors::checkpoint_folder checkpoints_in(const std::filesystem::path& run) {
  return actors::checkpoint_folder{run / "checkpoints"};
}

actors::resumption newest_checkpoint(const std::filesystem::path& run, bool parts_elsewhere,
                                     const std::function<void(const std::string&)>& complain) {
  const auto folder = checkpoints_in(run);
  return parts_elsewhere ? folder.newest_of_many(complain) : folder.newest(complain);
}

void tell_default_lr(const run_setup& run, const std::function<void(const std::string&)>& say) {
  if (const auto& s = run.experiment->settings; !run.options.run.lr)
    say(fmt::format("the learning rate is {:g}: --lr auto, {} worker{}", s.lr.value(), s.workers,
                    s.workers == 1 ? "" : "s"));
}

run_options run_setup::resolved() const {
  auto result = options;
  result.run = experiment->settings;
  return result;
}

void check_plan(const actors::fault_plan& plan, const actors::experiment& e, std::size_t workers_per_node) {
  actors::check(plan, e.participants(), workers_per_node);
  check_that_masters_stay(plan, e, workers_per_node);
}

actors::fault_plan plan_of(const run_options& o, const actors::experiment& e) {
  actors::fault_plan plan;
  if (!o.faults.empty()) {
    plan = actors::read_plan(o.faults);
    if (!plan.harms())
      throw error(errc::usage, fmt::format("{}: this plan has no fault", o.faults),
                  "begin each fault with a line [[fault]], or leave --faults out");
    if (o.spares_processes && std::ranges::any_of(plan.faults, &actors::fault::strikes_processes))
      throw error(errc::usage, fmt::format("--processes no is given, and {} has faults of processes", o.faults),
                  "leave the flag out, or processes and coordinators out of the plan");
  } else if (o.chaos)
    plan = actors::draw_plan(mixed(*o.chaos, o.run.seed), {.workers = e.settings.worker_ranks(),
                                                           .masters = e.masters,
                                                           .workers_per_node = o.world.workers_per_node,
                                                           .horizon_s = o.horizon_s.value(),
                                                           .processes = o.world.processes,
                                                           .comers = e.settings.worker_ranks() - e.settings.workers});
  plan.live = plan.live || o.live.control;
  check_plan(plan, e, o.world.workers_per_node);
  return plan;
}

void check_local(const program& p, const run_options& o) { actors::check_without_data(o.run, p.known()); }

void check_simulation(const program& p, run_options o) {
  check_world(p, o);
  costs_of(p, o.cost);
  actors::check_without_data(o.run, p.known());
}

run_setup set_up_local(const program& p, run_options o) {
  auto e = prepare_within_memory(p, o);
  const auto from = resumption_of(p, o, *e);
  if (from)
    e = going_on(p, *e, *from, o.resume);
  if (o.chaos && !o.horizon_s)
    o.horizon_s = estimated_seconds(*e, shared_sample_time(*e));
  auto plan = plan_of(o, *e);
  actors::check_without_processes(plan);
  return {o, e, std::move(plan), from};
}

run_setup set_up_simulation(const program& p, run_options o) {
  check_world(p, o);
  o.world.cost = costs_of(p, o.cost);
  auto e = prepare_within_memory(p, o);
  const auto from = resumption_of(p, o, *e);
  if (from)
    e = going_on(p, *e, *from, o.resume);
  if (std::exchange(o.measure_sample_time, false))
    o.world.sample_time_s = actors::measure_sample_time(*e);
  if (o.cost == "measured")
    o.world.cost = actors::measure_costs(*e);
  if (o.chaos && !o.horizon_s)
    o.horizon_s = horizon_of(*e, o, from);
  return {o, e, plan_of(o, *e), from};
}

} // namespace gossamer::apps
