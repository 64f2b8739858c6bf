#include "gossamer/actors/run/experiment.hpp"

#include "gossamer/actors/run/checkpoint.hpp"
#include "gossamer/actors/run/codec_need.hpp"
#include "gossamer/actors/run/default_lr.hpp"
#include "gossamer/actors/run/view_maker.hpp"
#include "gossamer/actors/worker/name_of.hpp"
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/within_memory.hpp"
#include "gossamer/compress/cuda/coder.hpp"
#include "gossamer/compute/cuda/models.hpp"
#include "gossamer/compute/cuda/updates.hpp"
#include "gossamer/compute/model_file.hpp"
#include "gossamer/topology/bipartition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

constexpr std::string_view automatic = "auto";
constexpr double default_epochs = 30;
constexpr double evaluations_per_run = 20;
constexpr std::uint64_t models_under_way = 8, least_model_bytes = 1 << 20; // to one peer
constexpr std::uint64_t endless_steps = 1'000'000'000'000'000; // years; times the workers, it does not overflow

/// @error errc::usage for a value that no flag could set: programs fill in settings, too
void check_values(const run_settings& s) {
  run_settings again;
  for (const auto& one : run_settings_table())
    if (const auto value = one.get(s); !value.empty())
      one.set(again, value);
}

void check_consistency(const run_settings& s) {
  if (s.epochs && s.steps)
    throw error(errc::usage, "both epochs and steps are given", "leave one of them out");
  if (s.min_workers && *s.min_workers > s.workers)
    throw error(errc::usage, fmt::format("--min-workers is {}, but the run begins with {}", *s.min_workers, s.workers),
                "allowed: 1 to --workers");
  if (s.max_workers && *s.max_workers < s.workers)
    throw error(errc::usage, fmt::format("--max-workers is {}, but the run begins with {}", *s.max_workers, s.workers),
                "leave it out, or give at least --workers");
  for (const auto& [slow, factor] : s.slow)
    if (slow >= s.worker_ranks())
      throw error(errc::usage, fmt::format("--slow names worker {}, but there are {} workers", slow, s.worker_ranks()),
                  fmt::format("workers are numbered 0 to {}", s.worker_ranks() - 1));
}

topology::bipartition split_for(const experiment& e, const topology::graph& graph) {
  try {
    return topology::split(graph);
  } catch (const error& problem) {
    throw error(problem.code(),
                fmt::format("{} needs a topology without odd cycles: {}", e.algorithm->about.name, problem.sentence()),
                problem.remedy());
  }
}

/// Builds the graph of all ranks. In a run that may grow, the first workers use their part of the topology of the
/// largest size.
void build_graph(experiment& e) {
  const auto& s = e.settings;
  const std::string_view fitting = e.averages_pairs() ? "even-ring" : "ring";
  const auto graph = topology::make_topology(s.topology == automatic ? fitting : s.topology, s.worker_ranks(), s.seed,
                                             e.known.topologies);
  e.mixing = std::make_shared<const topology::mixing_matrix>(topology::make_mixing(s.mixing, graph));
  std::vector<bool> active(s.worker_ranks(), true);
  switch (e.exchange()) {
  case exchange_pattern::bipartite:
    for (const auto i : split_for(e, graph).passive)
      active[i] = false;
    break;
  case exchange_pattern::all:
    if (s.topology != automatic && s.topology != "ring") // the default's former name, in old configurations
      throw error(errc::usage,
                  fmt::format("{} does not send along the edges of a graph and cannot use topology '{}'",
                              e.algorithm->about.name, s.topology),
                  e.algorithm->exchange ? fmt::format("leave --topology out, or choose parameters with which it does: "
                                                      "gossamer explain {} lists them",
                                                      e.algorithm->about.name)
                                        : "leave --topology out");
    break;
  case exchange_pattern::neighbours:
    break;
  }
  e.everybody = first_view(e.mixing, std::move(active), e.masters);
  if (s.workers == s.worker_ranks() && !e.islands.are_shared())
    return;
  view_change first;
  for (rank i = 0; i < e.participants(); ++i)
    if (i < s.workers || e.is_master(i))
      first.lives.emplace(i, 0);
  e.everybody = view_maker{e}.make(first);
}

/// Names of the algorithms that know islands.
std::string names_in_islands(const registry<algorithm_entry>& known) {
  std::string result;
  for (const auto& a : known)
    if (a.traits.in_islands)
      result += (result.empty() ? "" : ", ") + a.about.name;
  return result;
}

/// Returns the optimiser that workers get, and sets that of the settings unless the algorithm has one of its own.
std::string optimiser_of(experiment& e) {
  auto& s = e.settings;
  const auto& traits = e.algorithm->traits;
  if (traits.own_optimiser && s.optimiser != automatic)
    throw error(
        errc::usage,
        fmt::format("--optimiser is '{}', but {} has an optimiser of its own", s.optimiser, e.algorithm->about.name),
        fmt::format("leave it out; gossamer explain {} lists its parameters", e.algorithm->about.name));
  auto optimiser = s.optimiser == automatic ? std::string{traits.default_optimiser} : s.optimiser;
  if (!traits.own_optimiser)
    s.optimiser = optimiser;
  return optimiser;
}

/// @error errc::usage where a program hands over the steps of its own optimiser, and the algorithm wants gradients
void check_directions(const experiment& e) {
  if (!e.algorithm->traits.takes_direction && e.known.models.resolve(e.settings.model).first.gives_directions)
    throw error(errc::usage,
                fmt::format("the algorithm {} scales signs by the rate itself, or wants gradients at several points: "
                            "the steps of the program's own optimiser are of no use to it",
                            e.algorithm->about.name),
                "choose another one, or hand over gradients: in Python pass None for the optimiser, and lr=...");
}

topology::islands islands_of(const experiment& e) {
  if (e.settings.islands.empty())
    return {};
  if (!e.algorithm->traits.in_islands)
    throw error(errc::usage, fmt::format("--islands is given, but {} knows no islands", e.algorithm->about.name),
                "leave it out, or choose one of " + names_in_islands(e.known.algorithms));
  if (e.settings.islands == "hosts")
    throw error(errc::usage, "--islands is 'hosts', which launch and simulate know",
                "give the number of islands, or the number of workers of each");
  return topology::parse_islands(e.settings.islands, e.settings.workers);
}

device_parts parts_on_gpu(const experiment& e, cuda::device gpu) {
  std::shared_ptr<compute::optimiser> optimiser = e.host.optimiser->clone();
  optimiser->update_with(compute::cuda::updates_on_gpus());
  return {.where = gpu,
          .model = compute::cuda::on_device(*e.host.model, spec::parse(e.settings.model).name, gpu),
          .optimiser = std::move(optimiser),
          .make_coder = [gpu, known = e.known.codecs] {
            return compress::cuda::gpu_coder(cuda::stream{gpu.gpu()}, known);
          }};
}

std::string file_here(const experiment& e, std::string_view role) {
  const auto& s = e.settings;
  const auto files = s.files.empty() ? files_of(s, e.known) : s.files;
  const auto found = files.find(role);
  if (found == files.end())
    throw error(errc::bad_data, fmt::format("the files that were fetched lack the {}", role),
                "use the same version of the program on all nodes");
  return found->second;
}

/// The model's spec, with the location of its file on this machine.
std::string model_here(const experiment& e) {
  const auto [model, given] = e.known.models.resolve(e.settings.model);
  auto here = given.resolved();
  for (const auto& p : model.about.parameters)
    for (auto& [key, value] : here.values)
      if (key == p.key && p.kind == parameter::type::path)
        value = file_here(e, model_role);
  return here.to_string();
}

/// Remaining steps of each worker, for a run that begins or goes on. An asynchronous run ends where it would have ended
/// without the interruption.
double steps_left(const experiment& e, double steps_per_epoch) {
  const auto& s = e.settings;
  const auto workers = static_cast<double>(s.workers);
  if (s.steps)
    return static_cast<double>(*s.steps) - e.done.steps;
  if (e.algorithm->traits.synchronous)
    return (*s.epochs - e.epoch_of(e.done.updates)) * steps_per_epoch;
  const auto done = static_cast<double>(e.done.samples) / static_cast<double>(s.batch); // as updates of now
  return std::round(*s.epochs * steps_per_epoch) - done / workers;
}

/// Updates of all workers from the checkpoint that a run goes on from to a later one.
std::uint64_t updates_since(const earlier_work& done, const manifest& m) {
  return std::max(m.updates(), done.updates) - done.updates;
}

void plan(experiment& e) {
  const auto& s = e.settings;
  const auto workers = static_cast<double>(s.workers);
  const auto steps_per_epoch = e.updates_per_epoch() / workers;
  const bool endless = !s.epochs && !s.steps; // only its time may end it
  if (endless) {
    e.steps_per_worker = endless_steps;
    e.planned_updates = endless_steps * s.workers;
  } else {
    const auto left = std::max(steps_left(e, steps_per_epoch), 0.0);
    e.steps_per_worker = static_cast<std::uint64_t>(std::max(std::llround(e.done.steps + left), 1LL));
    const bool is_done = left == 0 && e.done.updates > 0; // rounding the mean of steps may ask for more
    const auto more = (static_cast<double>(e.steps_per_worker) - e.done.steps) * workers;
    e.planned_updates = e.done.updates + static_cast<std::uint64_t>(is_done ? 0 : std::max(std::llround(more), 0LL));
  }
  e.planned_epochs = endless ? std::numeric_limits<double>::infinity() : e.epoch_of(e.planned_updates);
  const auto between = s.eval_every.value_or(endless ? 1 : e.planned_epochs / evaluations_per_run);
  e.evaluation_steps = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(between * steps_per_epoch)));
}

/// Checks all that needs no data, which may take long to load, and makes the parts that need none.
std::shared_ptr<experiment> prepare_without_data(run_settings settings, const tables& known) {
  auto e = std::make_shared<experiment>();
  e->known = known;
  e->settings = std::move(settings);
  auto& s = e->settings;
  check_values(s);
  check_consistency(s);
  check_entries(known);

  const auto algorithm = known.algorithms.resolve(s.algorithm);
  e->algorithm = &algorithm.first;
  e->algorithm_arguments = algorithm.second;
  s.algorithm = algorithm.second.resolved().to_string();
  check_directions(*e);
  if (e->algorithm->masters)
    e->masters = e->algorithm->masters(algorithm.second);

  if (s.codec == automatic)
    s.codec = e->algorithm->traits.default_codec;
  const auto codec = compress::make_codec(s.codec, {}, known.codecs);
  require(e->algorithm->traits.needs, *codec, e->algorithm->about.name, s.codec, known.codecs);
  if (e->algorithm->packs_parts && e->algorithm->packs_parts(algorithm.second))
    require_parts(*codec, e->algorithm->about.name, s.codec);
  s.codec = codec->spelling();

  e->islands = islands_of(*e);
  e->host.optimiser = compute::make_optimiser(optimiser_of(*e), known.optimisers);
  if (!s.epochs && !s.steps && !s.seconds)
    s.epochs = default_epochs;
  const auto schedule = compute::schedules().resolve(s.schedule);
  if (schedule.first.needs_planned_epochs && !s.epochs && !s.steps)
    throw error(errc::usage, fmt::format("schedule '{}' has to know how long the run will be", s.schedule),
                "give --epochs or --steps beside --seconds");
  e->schedule = schedule.first.make(schedule.second);
  known.data.resolve(s.data);
  known.models.resolve(s.model);
  compute::partitions().resolve(s.partition);
  within_memory(fmt::format("building the graph of {} workers", s.workers),
                "use fewer workers, or a topology with fewer edges", [&] { build_graph(*e); });
  return e;
}

} // namespace

std::set<rank> experiment::vacancies() const {
  std::set<rank> result;
  for (auto i = static_cast<rank>(settings.workers); !is_master(i); ++i)
    result.insert(i);
  return result;
}

std::function<std::uint64_t(std::uint64_t)> experiment::last_step_beside() const {
  const auto exchanges = algorithm->traits.promises.most_exchanges_apart;
  if (!exchanges)
    return {};
  auto from = pool;
  const algorithm_setup of_one_number{.given = *algorithm_arguments, .initial = vec{from, 1}, .codecs = known.codecs};
  const std::shared_ptr<const actors::algorithm> one =
      make_for_worker(*algorithm, of_one_number); // steps ask nothing of it
  return [most = *exchanges, one](std::uint64_t t) {
    for (std::uint64_t k = 0; k < most; ++k)
      t = one->next_exchange(t + 1);
    return t;
  };
}

island_map experiment::named_islands() const {
  if (islands.count() == 0)
    return {};
  return [all = islands](rank i) { return all.of(i); };
}

double experiment::steps_of(const manifest& m) const {
  if (algorithm->traits.synchronous)
    return static_cast<double>(m.checkpoint);
  return done.steps + static_cast<double>(updates_since(done, m)) / static_cast<double>(settings.workers);
}

std::uint64_t experiment::samples_of(const manifest& m) const {
  return done.samples + updates_since(done, m) * settings.batch;
}

std::shared_ptr<const experiment> experiment::after(const manifest& m) const {
  auto e = std::make_shared<experiment>(*this);
  e->done = {.checkpoint = m.checkpoint, .updates = m.updates(), .samples = m.samples, .steps = m.steps};
  plan(*e);
  return e;
}

worker_settings experiment::for_worker(rank i, std::uint32_t incarnation) const {
  worker_settings w;
  w.place.id = i;
  w.place.incarnation = incarnation;
  w.place.random_life = random_life(i, incarnation);
  w.place.workers = settings.workers;
  w.place.ranks = settings.worker_ranks();
  w.place.masters = masters;
  w.place.islands = islands;
  w.training.samples = data.train.samples;
  if (incarnation == 0)
    w.place.everybody = everybody;
  w.packing.exact = codec->can().exact;
  const auto& traits = algorithm->traits;
  w.training.synchronous = traits.synchronous;
  w.training.on_loss = traits.on_loss;
  w.training.exchange = exchange();
  w.training.seed = settings.seed;
  // An asynchronous run counts the updates of all workers; a single worker never does more than all of them.
  w.training.step_limit = traits.synchronous || traits.equal_steps ? steps_per_worker : planned_updates;
  if (!traits.synchronous && done.updates > 0 && has_nothing_left())
    w.training.step_limit = 0; // some workers go on from an earlier step than the last
  w.training.updates_ahead = static_cast<std::int64_t>(done.updates);
  if (traits.synchronous)
    w.training.updates_ahead -= std::llround(done.steps) * static_cast<std::int64_t>(settings.workers);
  w.training.evaluation_steps = evaluation_steps;
  w.training.batch = settings.batch;
  w.training.updates_per_epoch = updates_per_epoch();
  w.training.epochs_ahead = epochs_ahead();
  w.training.planned_epochs = planned_epochs;
  w.training.lr = settings.lr.value();
  w.packing.codec = codec;
  w.training.schedule = schedule;
  w.training.model = device_of(i).model;
  w.packing.coder = device_of(i).make_coder();
  w.packing.pool = pool;
  return w;
}

std::unique_ptr<actors::algorithm> experiment::make_algorithm(rank i, const compress::coder& coder) const {
  const auto tensors = host.model->tensors();
  algorithm_setup setup{
      .given = *algorithm_arguments, .initial = coder.place(initial), .tensors = tensors, .codecs = known.codecs};
  if (!is_master(i))
    return make_for_worker(*algorithm, setup);
  setup.master = i - settings.worker_ranks();
  return make_for_master(*algorithm, setup);
}

std::uint64_t experiment::most_under_way() const {
  return settings.under_way.value_or(models_under_way * std::max(least_model_bytes, sizeof(float) * initial.size()));
}

std::string experiment::name_of(rank i) const { return actors::name_of(i, settings.worker_ranks()); }

void check_without_data(run_settings settings, const tables& known) {
  prepare_without_data(std::move(settings), known);
}

std::shared_ptr<const experiment> prepare(run_settings settings, const tables& known) {
  const auto devices = cuda::parse_devices(settings.device);
  auto e = prepare_without_data(std::move(settings), known);
  auto& s = e->settings;

  e->data = compute::load_data(s.data, s.seed, s.data_dir, s.files, known.data);
  if (s.batch > e->data.train.samples)
    throw error(errc::usage,
                fmt::format("--batch is {}, but the training set has {} samples", s.batch, e->data.train.samples),
                "a minibatch holds at most all of them");
  if (!s.lr)
    s.lr = default_lr(e->algorithm->traits, optimiser_of(*e), e->data.train, s.workers, known.optimisers);
  e->shards = std::make_shared<const compute::shards>(compute::deal(s.partition, e->data.train, s.workers, s.seed));
  const std::shared_ptr<const compute::model> model = compute::make_model(model_here(*e), e->data.train, known.models);
  within_memory(fmt::format("making a model of {} parameters", model->dimension()), "choose a smaller --model", [&] {
    vec initial{e->pool, model->dimension()};
    if (s.initial.empty())
      model->initial_point(initial.mutate(), random_stream{s.seed, 0, purpose::initial});
    else
      compute::read_model(file_here(*e, initial_role), *model, initial.mutate());
    e->initial = std::move(initial);
  });
  e->codec = compress::make_codec(s.codec, model->tensors(), known.codecs);
  e->host.model = model;
  e->host.make_coder = [codecs = known.codecs] { return std::make_shared<const compress::coder>(codecs); };
  for (const auto device : devices)
    e->devices.push_back(device.on_gpu() ? parts_on_gpu(*e, device) : e->host);
  e->make_algorithm(); // fails if its parameters contradict each other
  plan(*e);
  return e;
}

} // namespace gossamer::actors
