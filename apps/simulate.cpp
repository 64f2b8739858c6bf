// gossamer simulate: one run in virtual time, from settings to run folder.
#include "gossamer/actors/simulation/compute_cost.hpp"
#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/plan.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gossamer::apps {

namespace {

constexpr std::size_t blamed_on_screen = 3;

std::string hex(std::uint64_t hash) { return fmt::format("0x{:016x}", hash); }

std::string summary_json(const actors::simulation_result& r, double real_s) {
  auto object = nlohmann::ordered_json::parse(to_json(r.summary));
  object["hash"] = hex(r.hash);
  object["events"] = r.events;
  object["real_s"] = real_s;
  object["frames_lost"] = r.frames_lost;
  object["frames_rejected"] = r.frames_rejected;
  object["frames_duplicated"] = r.frames_duplicated;
  object["lost"] = r.summary.lost;
  object["returned"] = r.summary.returned;
  object["views"] = r.summary.views;
  return object.dump(2);
}

std::string describe(const actors::simulation_result& r, double real_s) {
  const auto& s = r.summary;
  auto text = apps::describe(s)
              + fmt::format("trace hash {}, {} events, {:.3g} events/s, {:.3g} real seconds\n", hex(r.hash), r.events,
                            static_cast<double>(r.events) / real_s, real_s);
  if (r.frames_lost + r.frames_rejected + r.frames_duplicated > 0)
    text += fmt::format("frames: {} lost, {} rejected, {} duplicated\n", r.frames_lost, r.frames_rejected,
                        r.frames_duplicated);
  if (s.lost + s.returned + s.views > 0)
    text += fmt::format("workers: {} lost, {} returned, {} changes of view\n", s.lost, s.returned, s.views);
  return text + r.blame.to_text(blamed_on_screen);
}

/// What is wrong with the world, before the run leaves traces.
void check_world(const actors::experiment& e, const actors::simulation_settings& s) {
  const auto nodes = (e.settings.workers + s.workers_per_node - 1) / s.workers_per_node;
  actors::make_network(s.network, nodes,
                       s.links.empty() ? std::vector<actors::link_override>{} : actors::parse_link_overrides(s.links));
  actors::make_compute_jitter(s.jitter);
}

actors::simulation_result run(const std::shared_ptr<const actors::experiment>& e, const actors::simulation_settings& s,
                              const actors::fault_plan& plan, actors::run_folder& folder) {
  const clean_stop stop;
  recorder observer{folder};
  return actors::simulate(e, s,
                          {.observer = &observer,
                           .interrupted = [] { return clean_stop::requested() != 0; },
                           .faults = plan,
                           .wrap_link = {}});
}

} // namespace

int simulate(const program& p, run_options options, bool json) {
  const auto experiment = actors::prepare(options.run, p.algorithms());
  options.run = experiment->settings;
  if (std::exchange(options.measure_sample_time, false))
    options.world.sample_time_s = actors::measure_sample_time(*experiment);
  if (!options.trace)
    options.world.trace_events = 0;
  check_world(*experiment, options.world);
  const auto plan = plan_of(options, *experiment);

  auto folder =
      open_folder(options, p.name() + " simulate", simulate_options(), experiment->algorithm->about.name, plan);
  const stopwatch watch;
  const auto result = run(experiment, options.world, plan, folder);
  const auto real_s = watch.seconds();
  folder.write("blame.txt", result.blame.to_text(std::numeric_limits<std::size_t>::max()));
  folder.write("blame.json", result.blame.to_json() + '\n');
  if (result.trace)
    folder.write("trace.json", [&](std::FILE* out) { result.trace->write(out); });
  folder.finish(result.summary);
  const auto summary = summary_json(result, real_s) + '\n';
  folder.write("summary.json", summary);
  if (json)
    fmt::print("{}", summary);
  else
    fmt::print("{}{} holds config.toml, metrics.jsonl, summary.json, plot.svg, blame.txt, blame.json{}{}\n",
               describe(result, real_s), folder.path().string(), plan.faults.empty() ? "" : ", faults.toml",
               result.trace ? ", trace.json" : "");
  return exit_status(result.summary);
}

} // namespace gossamer::apps
