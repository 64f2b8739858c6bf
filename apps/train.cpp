// gossamer train: one run on this machine, from settings to run folder.
#include "gossamer/actors/runtime/local_world.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/plan.hpp"
#include "gossamer/apps/detail/recorder.hpp"

#include <fmt/format.h>

#include <thread>

namespace gossamer::apps {

namespace {

/// Of this machine, whose processors the workers share.
double seconds_per_sample(const actors::experiment& e) {
  const double processors = std::max(1u, std::thread::hardware_concurrency());
  return actors::measure_sample_time(e) * std::max(1.0, static_cast<double>(e.settings.workers) / processors);
}

} // namespace

int train(const program& p, run_options options, bool json) {
  const auto experiment = actors::prepare(options.run, p.algorithms());
  options.run = experiment->settings;
  if (options.chaos && !options.horizon_s)
    options.horizon_s = estimated_seconds(*experiment, seconds_per_sample(*experiment));
  const auto plan = plan_of(options, *experiment);

  auto folder = open_folder(options, p.name() + " train", train_options(), experiment->algorithm->about.name, plan);
  actors::run_summary summary;
  {
    const clean_stop stop;
    recorder observer{folder};
    summary = actors::run_locally(experiment, {.observer = &observer,
                                               .interrupted = [] { return clean_stop::requested() != 0; },
                                               .faults = plan,
                                               .workers_per_node = options.world.workers_per_node,
                                               .wrap_link = {}});
  }
  folder.finish(summary);
  if (json)
    fmt::print("{}\n", to_json(summary));
  else
    fmt::print("{}{} holds config.toml, metrics.jsonl, summary.json and plot.svg\n", describe(summary),
               folder.path().string());
  return exit_status(summary);
}

} // namespace gossamer::apps
