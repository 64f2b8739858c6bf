#include "gossamer/apps/detail/options.hpp"

#include "gossamer/actors/runtime/allowed.hpp"
#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gossamer::apps {

namespace {

using actors::run_settings;
using actors::simulation_settings;

// Where an option is kept: works on constant and on changeable options.
template <class T>
auto field(T run_settings::*member) {
  return [member](auto& o) -> auto& { return o.run.*member; };
}
template <class T>
auto field(T simulation_settings::*member) {
  return [member](auto& o) -> auto& { return o.world.*member; };
}
template <class T>
auto field(T run_options::*member) {
  return [member](auto& o) -> auto& { return o.*member; };
}

template <class Field>
option text(std::string name, std::string value, std::string help, Field at) {
  return {std::move(name), std::move(value), std::move(help), [at](const run_options& o) { return at(o); },
          [at](run_options& o, const std::string& given) { at(o) = given; }};
}

template <class T>
T parse(const std::string& name, const std::string& given, actors::interval<T> allowed) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(parse_integer("--" + name, given, static_cast<std::int64_t>(allowed.min),
                                        static_cast<std::int64_t>(allowed.max)));
  else
    return parse_real("--" + name, given, allowed.min, allowed.max);
}

/// Of seeds: what an integer of TOML can be.
constexpr actors::interval<std::uint64_t> seeds{0, std::numeric_limits<std::int64_t>::max()};

template <class T>
std::string written(const T& value) {
  return fmt::format("{}", value);
}
template <class T>
std::string written(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string{};
}

template <class T>
struct plain {
  using type = T;
};
template <class T>
struct plain<std::optional<T>> {
  using type = T;
};
template <class Field>
using number_at = typename plain<std::decay_t<std::invoke_result_t<Field, run_options&>>>::type;

template <class Field>
option number(std::string name, std::string value, std::string help, Field at,
              actors::interval<number_at<Field>> allowed) {
  return {.name = name,
          .value = std::move(value),
          .help = std::move(help),
          .get = [at](const run_options& o) { return written(at(o)); },
          .set = [at, name, allowed](run_options& o, const std::string& given) { at(o) = parse(name, given, allowed); },
          .number = true};
}

template <class Field>
option yes_or_no(std::string name, std::string help, Field at) {
  return {name, "yes|no", std::move(help), [at](const run_options& o) { return std::string{at(o) ? "yes" : "no"}; },
          [at, name](run_options& o, const std::string& given) {
            if (given != "yes" && given != "no")
              throw error(errc::usage, fmt::format("--{} is '{}'", name, given), "allowed: yes or no");
            at(o) = given == "yes";
          }};
}

/// Two ways to say one thing, of which a user may use one at a time: what is said later counts.
template <class Field>
option instead_of(option o, std::string other, Field at) {
  o.excludes = std::move(other);
  o.set = [set = std::move(o.set), at](run_options& into, const std::string& given) {
    set(into, given);
    at(into) = {};
  };
  return o;
}

option seed() {
  auto result = number("seed", "N", "the seed of everything random", field(&run_settings::seed), seeds);
  result.set = [set = std::move(result.set)](run_options& o, const std::string& given) {
    if (given.find("..") != std::string::npos)
      throw error(errc::usage, fmt::format("--seed is '{}', which is not a whole number", given),
                  fmt::format("the command simulate takes several: --seeds {}", given));
    set(o, given);
  };
  return result;
}

/// "3:10x": worker 3 is ten times slower.
void set_slow(run_options& o, const std::string& given) {
  std::set<actors::rank> named;
  for (const auto& item : split(given, ',')) {
    const auto colon = item.find(':');
    auto factor = colon == std::string::npos ? std::string{} : item.substr(colon + 1);
    if (factor.ends_with('x'))
      factor.pop_back();
    if (factor.empty())
      throw error(errc::usage, fmt::format("--slow is '{}', which is not of the form RANK:FACTORx", item),
                  "for example 3:10x for a worker 3 that takes ten times as long");
    const auto worker =
        static_cast<actors::rank>(parse_integer("the rank in --slow", item.substr(0, colon), 0, 1'000'000));
    if (!named.insert(worker).second)
      throw error(errc::usage, fmt::format("--slow names worker {} twice", worker), "leave one of them out");
    o.run.slow[worker] = parse("slow (factor)", factor, actors::allowed::slow);
  }
}

std::string get_slow(const run_options& o) {
  std::string result;
  for (const auto& [worker, factor] : o.run.slow)
    result += fmt::format("{}{}:{}x", result.empty() ? "" : ",", worker, factor);
  return result;
}

/// One worker for each GPU, unless their number is given.
void set_device(run_options& o, const std::string& given) {
  const auto gpus = std::ranges::count_if(cuda::parse_devices(given), &cuda::device::on_gpu);
  o.run.device = given;
  if (gpus > 0 && !o.workers_given)
    o.run.workers = static_cast<std::size_t>(gpus);
}

option workers() {
  auto result = number("workers", "N", "number of workers; not given: one for each GPU of --device",
                       field(&run_settings::workers), actors::allowed::workers);
  result.set = [set = std::move(result.set)](run_options& o, const std::string& given) {
    set(o, given);
    o.workers_given = true;
  };
  return result;
}

void set_link(run_options& o, const std::string& given) {
  actors::parse_link_overrides(given); // refuses it here, where the file and line are known
  o.world.links += (o.world.links.empty() ? "" : ";") + given;
}

void set_sample_time(run_options& o, const std::string& given) {
  o.measure_sample_time = given == "measured";
  if (!o.measure_sample_time)
    o.world.sample_time_s = parse_real("--sample-time", given, 0, 1e6);
}

std::string get_sample_time(const run_options& o) {
  return o.measure_sample_time ? "measured" : written(o.world.sample_time_s);
}

} // namespace

bool names_a_file(const std::string& cost) { return cost != "default" && cost != "none" && cost != "measured"; }

void check_exclusions(const std::vector<option>& table, const std::function<bool(const std::string&)>& given,
                      const std::string& where) {
  for (const auto& o : table)
    if (!o.excludes.empty() && given(o.name) && given(o.excludes))
      throw error(errc::usage,
                  where.empty() ? fmt::format("both --{} and --{} are given", o.name, o.excludes)
                                : fmt::format("{}: both {} and {} are given", where, o.name, o.excludes),
                  "leave one of them out");
}

const std::vector<option>& train_options() {
  static const std::vector<option> table{
      text("algorithm", "NAME", "how the workers train together", field(&run_settings::algorithm)),
      workers(),
      {"device", "NAME",
       "where gradients are computed: cpu, cuda:0, cuda:all, or several joined by +, dealt out in turn",
       field(&run_settings::device), set_device},
      text("topology", "NAME", "who may talk to whom", field(&run_settings::topology)),
      text("mixing", "RULE", "weights of gossip: auto, uniform, metropolis or lazy", field(&run_settings::mixing)),
      text("codec", "NAME", "how vectors are compressed on the way", field(&run_settings::codec)),
      text("model", "NAME", "what is learnt", field(&run_settings::model)),
      text("data", "NAME", "what it is learnt from", field(&run_settings::data)),
      text("partition", "NAME", "how the samples are dealt out to the workers", field(&run_settings::partition)),
      number("batch", "N", "samples in a minibatch of one worker", field(&run_settings::batch), actors::allowed::batch),
      number("lr", "RATE", "learning rate (default: what the algorithm, or else the optimiser, suggests)",
             field(&run_settings::lr), actors::allowed::lr),
      text("schedule", "NAME", "how the learning rate changes", field(&run_settings::schedule)),
      text("optimiser", "NAME", "how a gradient becomes an update; momentum and weight decay",
           field(&run_settings::optimiser)),
      instead_of(number("epochs", "E", "passes over the data, all workers together (default: 30)",
                        field(&run_settings::epochs), actors::allowed::epochs),
                 "steps", field(&run_settings::steps)),
      instead_of(number("steps", "N", "gradients of each worker (on average, if asynchronous) instead of epochs",
                        field(&run_settings::steps), actors::allowed::steps),
                 "epochs", field(&run_settings::epochs)),
      number("seconds", "S", "stop after so long; alone, or before the epochs or steps are over",
             field(&run_settings::seconds), actors::allowed::seconds),
      seed(),
      number("threads", "N",
             "threads for messages; 0: one for each processor. Gradients have a thread per worker; a simulation has "
             "one thread",
             field(&run_settings::threads), actors::allowed::threads),
      number("eval-every", "E", "epochs between evaluations (default: 20 evaluations a run; 1 with --seconds alone)",
             field(&run_settings::eval_every), actors::allowed::eval_every),
      {"slow", "RANK:FACTORx", "make a worker compute so many times slower; may be repeated", get_slow, set_slow, ","},
      number("workers-per-node", "N", "workers that share a machine and its network card",
             field(&simulation_settings::workers_per_node), {1, 1'000'000}),
      instead_of(
          text("faults", "FILE", "inject the faults of this plan", field(&run_options::faults)), "chaos",
          [](run_options & o) -> auto& { return o.horizon_s.reset(), o.chaos; }),
      instead_of(number("chaos", "SEED", "inject the faults of a random plan, drawn from this seed and the run's",
                        field(&run_options::chaos), seeds),
                 "faults", field(&run_options::faults)),
      number("horizon", "S", "seconds that the random plan is made for (default: about the length of the run)",
             field(&run_options::horizon_s), {1e-3, 1e9}),
      text("out", "DIR", "run folder (default: the next free one under runs/)", field(&run_options::out)),
  };
  return table;
}

namespace {

std::vector<option> with_world(std::vector<option> table) {
  const std::vector<option> world{
      text("network", "NAME", "the links between the nodes", field(&simulation_settings::network)),
      {"link", "A-B:KEY=VALUE", "change single links, e.g. 0-3:bandwidth=1e6,latency=0.1; may be repeated",
       [](const run_options& o) { return o.world.links; }, set_link, ";"},
      {"sample-time", "SECONDS|measured", "computing time for one sample of a minibatch; or what it is on this machine",
       get_sample_time, set_sample_time, "", true},
      text("cost", "default|none|measured|FILE",
           "what encoding, averaging, updates and frames cost; measured: on this machine", field(&run_options::cost)),
      text("jitter", "NAME", "how computing times scatter", field(&simulation_settings::jitter)),
      number("interleaving", "K", "which of the possible orders of simultaneous events; 0: the natural one",
             field(&simulation_settings::interleaving), seeds),
      number("detection", "S", "seconds from the death of a worker to the moment it is noticed",
             field(&simulation_settings::detection_s), {0, 1e6}),
      number("patience", "S", "a run hangs that does no step for so many seconds, while no fault is left",
             field(&simulation_settings::patience_s), {1e-9, 1e9}),
      yes_or_no("check", "watch over what must hold in every run, and fail when it does not",
                field(&simulation_settings::check)),
      yes_or_no("trace", "write trace.json, a picture of the run for ui.perfetto.dev", field(&run_options::trace)),
  };
  table.insert(std::prev(table.end()), world.begin(), world.end()); // `out` stays the last
  return table;
}

} // namespace

const std::vector<option>& simulate_options() {
  static const auto table = with_world(train_options());
  return table;
}

} // namespace gossamer::apps
