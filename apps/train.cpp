// gossamer train: one run on this machine, from settings to run folder.
#include "gossamer/actors/hosting/run_picture.hpp"
#include "gossamer/actors/hosting/run_trace.hpp"
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/audience.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/live_recorder.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/apps/detail/training.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gossamer::apps {

namespace {

/// Discards the folder of a run that has not begun, after all that is still to be written there.
void discard(live_output& output, const std::shared_ptr<actors::run_folder>& folder) {
  try {
    output.disk().post([folder] { folder->discard(); });
  } catch (...) { // after a task that failed the thread does nothing more
    folder->discard();
  }
}

int train_into(const std::shared_ptr<actors::run_folder>& folder, const run_setup& run, const program& p,
               live_output& output, const real_world& world) {
  const auto& options = run.options;
  const auto path = folder->path();
  p.tell_folder(path);
  bring_metrics(run, *folder, output.to_say());
  tell_default_lr(run, output.to_say());
  audience watching{run, p.name() + " train", path, output.to_say()};
  const auto picture = options.feeds.trace ? std::make_shared<actors::run_picture>() : nullptr;
  const auto trace =
      picture ? std::make_shared<actors::run_trace>([picture](const auto& m) { picture->draw(m); }) : nullptr;
  const clean_stop stop; // also while the results are written: they are whole, or not there
  clean_stop::outlive_readers();
  actors::run_summary summary;
  {
    live_recorder recorder{output, [folder] { return folder; }, run.experiment->settings.worker_ranks()};
    auto all = watching.behind(recorder);
    summary = world(run,
                    {.observer = &all,
                     .interrupted = clean_stop::is_requested,
                     .faults = run.plan,
                     .wishes = watching.wishes(),
                     .trace = trace,
                     .workers_per_node = options.world.workers_per_node,
                     .wrap_link = {},
                     .checkpoints = checkpoints_in(path),
                     .from = run.from},
                    recorder, path);
  }
  if (const auto& wishes = watching.wishes())
    folder->write("faults.toml", to_toml(wishes->plan()));
  if (picture)
    folder->write("trace.json", [&](std::FILE* out) { picture->write(out); });
  std::vector<std::string> more;
  if (picture)
    more.emplace_back("trace.json");
  if (options.report && has_reports() && p.has_results())
    std::ranges::move(report_into(path, output.to_say()), std::back_inserter(more));
  watching.end(summary); // last, because a reader of a pipe may be slow
  const auto missing = output.close();
  std::string text;
  if (p.has_results())
    text = fmt::format("{}{} holds {}\n{}{}", describe(summary), path.string(), names_of_files(run, path, more),
                       missing, missing.empty() ? "" : "\n");
  print_results(options.feeds, options.json, to_json(summary), text);
  return exit_status(summary);
}

} // namespace

int train_in(const program& p, const run_options& options, live_output& output, const real_world& world) {
  const auto run = set_up_local(p, options);
  const auto folder = std::make_shared<actors::run_folder>(open_folder(run, p.name() + " train", train_options()));
  try {
    return train_into(folder, run, p, output, world);
  } catch (const error& e) {
    if (e.code() != errc::diverged) // the folder shows how
      discard(output, folder);
    throw;
  } catch (...) { // for want of memory
    discard(output, folder);
    throw;
  }
}

int train(const program& p, const run_options& options) {
  live_output output{p, {.in_place = options.feeds.shown == ui::live}};
  return train_in(p, options, output,
                  [](const run_setup& run, const auto& around, live_recorder& recorder, const auto&) {
                    auto summary = actors::run_locally(run.experiment, around);
                    recorder.finish(summary);
                    return summary;
                  });
}

} // namespace gossamer::apps
