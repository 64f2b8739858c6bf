// gossamer train: one run on this machine, from settings to run folder.
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/actors/worlds/local_world.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/training.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

int train_in(const program& p, const run_options& options, bool json, const real_world& world) {
  const auto run = set_up_local(p, options);
  auto folder = open_folder(run, p.name() + " train", train_options());
  bring_metrics(run, folder);
  actors::run_summary summary;
  {
    const clean_stop stop;
    recorder observer{folder};
    summary = world(run,
                    {.observer = &observer,
                     .interrupted = [] { return clean_stop::requested() != 0; },
                     .faults = run.plan,
                     .workers_per_node = options.world.workers_per_node,
                     .wrap_link = {},
                     .checkpoints = checkpoints_in(folder.path()),
                     .from = run.from},
                    folder);
  }
  if (json)
    fmt::print("{}\n", to_json(summary));
  else
    fmt::print("{}{} holds config.toml, {}metrics.jsonl, summary.json and plot.svg\n", describe(summary),
               folder.path().string(), run.plan.faults.empty() ? "" : "faults.toml, ");
  return exit_status(summary);
}

int train(const program& p, const run_options& options, bool json) {
  return train_in(p, options, json, [](const run_setup& run, const auto& around, actors::run_folder& folder) {
    auto summary = actors::run_locally(run.experiment, around);
    folder.finish(summary);
    return summary;
  });
}

} // namespace gossamer::apps
