// gossamer simulate: one run in virtual time, from settings to run folder.
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/audience.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/failure.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace gossamer::apps {

namespace {

constexpr std::size_t blamed_on_screen = 3;

std::string hex(std::uint64_t hash) { return fmt::format("0x{:016x}", hash); }

std::string summary_json(const actors::simulation_result& r, double real_s) {
  auto object = nlohmann::ordered_json::parse(to_json(r.summary));
  object["hash"] = hex(r.hash);
  object["events"] = r.events;
  object["real_s"] = real_s;
  object["time_by_worker"] = nlohmann::ordered_json::parse(to_json(r.time_used));
  object["frames_lost"] = r.frames_lost;
  object["frames_rejected"] = r.frames_rejected;
  object["frames_duplicated"] = r.frames_duplicated;
  object["gradients_lost"] = r.gradients_lost;
  return object.dump(2);
}

std::string describe_simulated(const actors::simulation_result& r, double real_s) {
  const auto& s = r.summary;
  auto text = apps::describe(s)
              + fmt::format("trace hash {}, {} events, {:.0f} events/s, {:.3g} real seconds\n", hex(r.hash), r.events,
                            static_cast<double>(r.events) / real_s, real_s);
  if (r.frames_lost + r.frames_rejected + r.frames_duplicated > 0)
    text += fmt::format("frames: {} lost, {} rejected, {} duplicated\n", r.frames_lost, r.frames_rejected,
                        r.frames_duplicated);
  if (s.lost + s.returned + s.views > 0)
    text += fmt::format("workers: {} lost, {} came or came back, {} changes of view{}\n", s.lost, s.returned, s.views,
                        r.gradients_lost > 0 ? fmt::format("; {} gradients died with them", r.gradients_lost) : "");
  text += fmt::format("a worker, on average: {}\n", describe(r.time_used));
  return text + r.blame.to_text(blamed_on_screen);
}

actors::simulation_result simulate_into(actors::run_folder& folder, const run_setup& run, const audience& watching) {
  const clean_stop stop;
  recorder shown{folder, run.experiment->settings.worker_ranks(), run.options.feeds.shown == ui::live};
  auto all = watching.behind(shown);
  return actors::simulate(run.experiment, run.options.world,
                          {.observer = &all,
                           .interrupted = clean_stop::is_requested,
                           .faults = run.plan,
                           .wishes = watching.wishes(),
                           .checkpoints = checkpoints_in(folder.path()),
                           .from = run.from});
}

/// @returns as `run_folder::finish`
std::string write_results(actors::run_folder& folder, const actors::simulation_result& r, const std::string& summary) {
  folder.write("blame.txt", r.blame.to_text(std::numeric_limits<std::size_t>::max()));
  folder.write("blame.json", r.blame.to_json() + '\n');
  return folder.finish(r.summary, summary);
}

void write_trace(actors::run_folder& folder, const run_setup& run) {
  if (const auto& trace = run.options.world.trace)
    folder.write("trace.json", [&](std::FILE* out) { trace->write(out); });
}

/// True if the run itself failed: neither the request nor the machine.
bool of_the_run(errc code) { return code == errc::failed || code == errc::diverged || code == errc::bad_packet; }

int simulate_one(const program& p, run_setup run, actors::run_folder& folder, bool twice) {
  const auto say = [&p](const std::string& line) { p.say(line); };
  tell_default_lr(run, say);
  audience watching{run, p.name() + " simulate", folder.path(), say, std::make_shared<pace>(clean_stop::is_requested)};
  const stopwatch watch;
  const auto result = simulate_into(folder, run, watching);
  if (const auto& wishes = watching.wishes())
    folder.write("faults.toml", to_toml(run.plan = wishes->plan()));
  const auto real_s = watch.seconds();
  const auto status = exit_status(result.summary);
  if (twice && status == 0)
    expect_same_hash(result.hash, simulate_silently(run).hash);
  const auto summary = summary_json(result, real_s);
  if (const auto missing = write_results(folder, result, summary + '\n'); !missing.empty())
    say(missing);
  write_trace(folder, run);
  std::vector<std::string> more{"blame.txt", "blame.json"};
  if (run.options.trace)
    more.emplace_back("trace.json");
  if (run.options.report && has_reports() && p.has_results())
    std::ranges::move(report_into(folder.path(), say), std::back_inserter(more));
  watching.end(result.summary); // last, because a reader of a pipe may be slow
  print_results(run.options.feeds, run.options.json, summary,
                fmt::format("{}{} holds {}\n", describe_simulated(result, real_s), folder.path().string(),
                            names_of_files(run, folder.path(), more)));
  return status;
}

} // namespace

int simulate(const program& p, const run_options& options, const exploration& wanted) {
  if (wanted.several())
    return explore(p, options, wanted);
  auto run = set_up_simulation(p, options);
  if (run.options.trace)
    run.options.world.trace = std::make_shared<actors::trace_recorder>();
  auto folder = open_folder(run, p.name() + " simulate", simulate_options());
  p.tell_folder(folder.path());
  bring_metrics(run, folder, [&p](const std::string& line) { p.say(line); });
  try {
    return simulate_one(p, run, folder, wanted.each.twice);
  } catch (const error& e) {
    if (!of_the_run(e.code()))
      folder.discard();
    else
      write_trace(folder, run); // shows how the failure came about
    if (wanted.shrink && of_the_run(e.code()))
      report_shrunk(p, {run, e.code(), e.what()}, folder.path().string(), wanted.each);
    throw;
  }
}

} // namespace gossamer::apps
