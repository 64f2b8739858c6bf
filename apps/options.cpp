#include "gossamer/apps/detail/options.hpp"

#include "gossamer/actors/run/allowed.hpp"
#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

using actors::simulation_settings;
namespace allowed = actors::allowed;

// These options of the command line have more meaning than `run_settings_table` knows.

void set_seed(run_options& o, const option& plain, const std::string& given) {
  if (given.find("..") != std::string::npos)
    throw error(errc::usage, fmt::format("--seed is '{}', which is not a whole number", given),
                fmt::format("the command simulate takes several: --seeds {}", given));
  plain.set(o, given);
}

/// Gives each GPU one worker, unless the number of workers is given.
void set_device(run_options& o, const option& plain, const std::string& given) {
  const auto gpus = std::ranges::count_if(cuda::parse_devices(given), &cuda::device::on_gpu);
  plain.set(o, given);
  if (gpus > 0 && !o.workers_given)
    o.run.workers = static_cast<std::size_t>(gpus);
}

void set_workers(run_options& o, const option& plain, const std::string& given) {
  plain.set(o, given);
  o.workers_given = true;
}

option of_run(const setting<actors::run_settings>& inner) {
  const auto plain = setting_of_part(inner, &run_options::run);
  auto result = plain;
  const auto with = [&](auto set) {
    result.set = [=](run_options& o, const std::string& given) { set(o, plain, given); };
  };
  if (plain.name == "seed")
    with(set_seed);
  else if (plain.name == "device")
    with(set_device);
  else if (plain.name == "workers")
    with(set_workers);
  return result;
}

std::vector<option> run_table() {
  std::vector<option> result;
  std::ranges::transform(actors::run_settings_table(), std::back_inserter(result), of_run);
  return result;
}

void set_link(simulation_settings& s, const std::string& given) {
  actors::parse_link_overrides(given); // refuses it here, where the file and line are known
  s.links += (s.links.empty() ? "" : ";") + given;
}

void set_sample_time(run_options& o, const std::string& given) {
  o.measure_sample_time = given == "measured";
  if (!o.measure_sample_time)
    o.world.sample_time_s = parse_quantity(quantity::time, "--sample-time", given, 0, 1e6);
}

std::string get_sample_time(const run_options& o) {
  return o.measure_sample_time ? "measured" : number_text(o.world.sample_time_s);
}

option of_world(setting<simulation_settings> inner) { return setting_of_part(std::move(inner), &run_options::world); }

std::vector<option> with_simulation(std::vector<option> table) {
  using world = simulation_settings;
  const std::vector<option> more{
      of_world(text_setting({"network", "NAME", "the links between the nodes"}, &world::network)),
      of_world({{.name = "link",
                 .value = "A-B:KEY=VALUE",
                 .help = "change single links, e.g. 0-3:bandwidth=1e6,latency=0.1; may be repeated",
                 .joined_by = ";"},
                [](const world& s) { return s.links; },
                set_link}),
      of_world(number_setting({"bandwidth-factor", "X", "bandwidths of all links and cards, times X"},
                              &world::bandwidth_factor, {1e-6, 1e6})),
      {{.name = "sample-time",
        .value = "SECONDS|measured",
        .help = "computing time for one sample of a minibatch; or what it is on this machine",
        .number = true},
       get_sample_time,
       set_sample_time},
      text_setting({"cost", "default|none|measured|FILE",
                    "what encoding, averaging, updates and frames cost; measured: on this machine"},
                   &run_options::cost),
      of_world(text_setting({"jitter", "NAME", "how computing times scatter"}, &world::jitter)),
      of_world(number_setting(
          {"interleaving", "K", "which of the possible orders of simultaneous events; 0: the natural one"},
          &world::interleaving, allowed::seed)),
      of_world(quantity_setting(quantity::time,
                                {"detection", "S", "seconds from the death of a worker to the moment it is noticed"},
                                &world::detection_s, {0.0, 1e6})),
      of_world(quantity_setting(
          quantity::time,
          {"patience", "S",
           "a run hangs that does no step for so many seconds, while nothing is under way and no fault will end"},
          &world::patience_s, {1e-9, 1e9})),
      of_world(switch_setting({"processes", "", "each node is a process of its own, as in a cluster, and may die"},
                              &world::processes)),
      of_world(quantity_setting(quantity::time,
                                {"process-patience", "S",
                                 "seconds of silence after which processes give each other up, where nodes are some"},
                                &world::process_patience_s, {1.0, 1e6})),
      of_world(quantity_setting(
          quantity::time, {"prepare", "S", "seconds that a process takes to prepare the run, when it comes later"},
          &world::prepare_s, {0.0, 1e6})),
      of_world(switch_setting({"check", "", "watch over what must hold in every run, and fail when it does not"},
                              &world::check)),
      switch_setting({"trace", "", "write trace.json, a picture of the run for ui.perfetto.dev"}, &run_options::trace),
  };
  table.insert(std::prev(table.end()), more.begin(), more.end()); // `out` stays the last
  return table;
}

/// Refuses what breaks a line: a leader tells its folder to the program that has started it in one.
void set_out(run_options& o, const option& plain, const std::string& given) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(given, is_control))
    throw error(errc::usage, fmt::format("--out is '{}', with a control character, such as a line break", given),
                "give the folder a name without");
  plain.set(o, given);
}

option folder_of_run() {
  const auto plain =
      text_setting({"out", "DIR", "run folder (default: the next free one under runs/)"}, &run_options::out);
  auto result = plain;
  result.set = [=](run_options& o, const std::string& given) { set_out(o, plain, given); };
  return result;
}

std::vector<option> with_faults(std::vector<option> table) {
  const std::vector<option> more{
      of_world(number_setting({"workers-per-node", "N", "workers that share a machine and its network card"},
                              &simulation_settings::workers_per_node, {1, topology::max_workers})),
      instead_of(text_setting({"faults", "FILE", "inject the faults of this plan"}, &run_options::faults), "chaos",
                 [](run_options& o) {
                   o.chaos.reset();
                   o.horizon_s.reset();
                 }),
      instead_of(
          number_setting({"chaos", "SEED", "inject the faults of a random plan, drawn from this seed and the run's"},
                         &run_options::chaos, allowed::seed),
          "faults", [](run_options& o) { o.faults.clear(); }),
      quantity_setting(quantity::time,
                       {"horizon", "S",
                        "seconds that the random plan is made for (default: about the length of the run; simulated on "
                        "a slow network, that of a trial without faults)"},
                       &run_options::horizon_s, {1e-3, 1e9}),
      folder_of_run(),
  };
  table.insert(table.end(), more.begin(), more.end());
  return table;
}

} // namespace

bool names_a_file(const std::string& cost) { return cost != "default" && cost != "none" && cost != "measured"; }

const std::vector<option>& train_options() {
  static const auto table = with_faults(run_table());
  return table;
}

const std::vector<option>& simulate_options() {
  static const auto table = with_simulation(train_options());
  return table;
}

} // namespace gossamer::apps
