// gossamer train: one run on this machine, from settings to run folder.
#include "gossamer/actors/runtime/local_world.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/actors/telemetry/run_folder.hpp"

#include <fmt/format.h>

#include <csignal>

#include "commands.hpp"
#include "progress.hpp"

namespace gossamer::apps {

namespace {

volatile std::sig_atomic_t stop_requested = 0;

/// The first SIGINT or SIGTERM asks the run to stop after its present step; the second kills as usual.
class clean_stop {
public:
  clean_stop() {
    for (const int signal : {SIGINT, SIGTERM})
      std::signal(signal, [](int received) {
        stop_requested = received;
        std::signal(received, SIG_DFL);
      });
  }
  ~clean_stop() {
    for (const int signal : {SIGINT, SIGTERM})
      std::signal(signal, SIG_DFL);
  }
  clean_stop(const clean_stop&) = delete;
  clean_stop& operator=(const clean_stop&) = delete;
};

/// Shows a run and writes it down.
class recorder final : public actors::run_observer {
public:
  explicit recorder(actors::run_folder& folder) : folder_(folder) {}
  void on_progress(const actors::progress_record& p) override { shown_.on_progress(p); }
  void on_evaluation(const actors::evaluation_record& r) override {
    folder_.on_evaluation(r);
    shown_.on_evaluation(r);
  }

private:
  actors::run_folder& folder_;
  progress shown_;
};

constexpr int signal_status = 128; // plus the signal: as a shell reports a program that a signal ended

} // namespace

int train(train_options options, bool json) {
  const auto experiment = actors::prepare(options.run);
  options.run = experiment->settings;
  if (options.out.empty())
    options.out = actors::run_folder::next_free("runs", experiment->algorithm->about.name).string();

  actors::run_folder folder{options.out, options.overwrite};
  folder.write("config.toml", write_config(options));
  actors::run_summary summary;
  {
    const clean_stop stop;
    recorder observer{folder};
    summary = actors::run_locally(
        experiment,
        {.observer = &observer, .interrupted = [] { return stop_requested != 0; }, .faults = {}, .wrap_link = {}});
  }
  folder.finish(summary);
  if (json)
    fmt::print("{}\n", to_json(summary));
  else
    fmt::print("{}{} holds config.toml, metrics.jsonl, summary.json and plot.svg\n", describe(summary),
               folder.path().string());
  return summary.end == actors::run_end::interrupted ? signal_status + stop_requested : 0;
}

} // namespace gossamer::apps
