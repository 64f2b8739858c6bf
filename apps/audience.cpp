#include "gossamer/apps/detail/audience.hpp"

#include "gossamer/actors/run/run_settings.hpp"
#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/actors/telemetry/tensorboard.hpp"
#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/apps/detail/live_page.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/written_file.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace gossamer::apps {

/// One watcher, and the thread in which it learns of the run.
class audience::seat {
public:
  /// @param farewell called in that thread at the end; owns all that it uses
  /// @param is_file the last words of a file are waited for, those for people only for a while
  seat(std::shared_ptr<actors::run_observer> watcher, std::function<void(const actors::run_summary&)> farewell,
       bool is_file)
      : told_(thread_, std::move(watcher)), farewell_(std::move(farewell)), is_file_(is_file) {}

  actors::run_observer* observer() noexcept { return &told_; }
  void post(actors::side_thread::task what) { thread_.post(std::move(what)); }
  void end(const actors::run_summary& summary) {
    thread_.post([last = farewell_, summary] { last(summary); });
    is_file_ ? thread_.finish() : static_cast<void>(thread_.finish_within(actors::longest_farewell));
  }
  /// Waits a while for what is on its way. A failure has ended the run already, or does not matter beside its error.
  void leave() noexcept {
    try {
      thread_.finish_within(actors::longest_farewell);
    } catch (...) { // NOLINT(bugprone-empty-catch)
    }
  }

private:
  actors::side_thread thread_;
  actors::deferred_observer told_;
  std::function<void(const actors::run_summary&)> farewell_;
  bool is_file_;
};

namespace {

namespace fs = std::filesystem;

std::shared_ptr<written_file> new_event_file(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw error(errc::io, fmt::format("--tensorboard: cannot make {}: {}", folder.string(), problem.message()),
                "name a folder in which this program may write");
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const auto name = fmt::format("events.out.tfevents.{:.0f}.{}.{}", seconds_since_1970(), host, getpid());
  return std::make_shared<written_file>(folder / name, "--tensorboard");
}

std::shared_ptr<actors::run_observer> tensorboard_for(const run_setup& run, const std::string& command,
                                                      const fs::path& run_folder) {
  const auto& e = *run.experiment;
  const auto own = fs::absolute(run_folder / "").parent_path().filename(); // also of "runs/x/" and "."
  const auto file = new_event_file(fs::path{run.options.feeds.tensorboard} / own);
  return std::make_shared<actors::tensorboard_observer>(
      actors::tensorboard_observer::settings{.wall_s = seconds_since_1970,
                                             .write = [file](std::string_view record) { file->write(record); },
                                             .steps_per_epoch = e.updates_per_epoch(),
                                             .epochs_ahead = e.epochs_ahead(),
                                             .first_step = e.done.updates},
      fmt::format("# {}\n{}", command, to_text(e.settings)));
}

} // namespace

audience::audience(const run_setup& run, const std::string& command, const fs::path& folder,
                   const std::function<void(const std::string&)>& say, std::shared_ptr<pace> held)
    : wishes_(run.options.live.control ? std::make_shared<actors::fault_wishes>() : nullptr),
      held_(wishes_ ? std::move(held) : nullptr) {
  const auto add = [this](std::shared_ptr<actors::run_observer> watcher, auto farewell, bool is_file) {
    seats_.push_back(std::make_unique<seat>(std::move(watcher), std::move(farewell), is_file));
  };
  if (!run.options.live.where.empty()) {
    const auto page = std::make_shared<live_page>(run, command, wishes_, held_);
    say("the run can be watched at " + page->url());
    add(
        page->observer(), [page](const actors::run_summary& s) { page->end(to_string(s.end)); }, false);
  }
  for (const auto& to : run.options.feeds.line_files()) {
    const auto file = std::make_shared<written_file>(to, "--events");
    const auto write = [file](const std::string& line) { file->write(line + '\n'); };
    add(
        std::make_shared<line_observer>([write](const auto&, const std::string& line) { write(line); }),
        [write](const actors::run_summary& s) { write(last_line(to_string(s.end))); }, true);
    seats_.back()->post([write, line = first_line(run.experiment->settings, command)] { write(line); });
  }
  if (!run.options.feeds.tensorboard.empty())
    add(
        tensorboard_for(run, command, folder), [](const actors::run_summary&) {}, true);
}

audience::~audience() {
  for (const auto& one : seats_)
    one->leave();
}

actors::observers audience::behind(actors::run_observer& first) const {
  std::vector<actors::run_observer*> all{&first};
  for (const auto& one : seats_)
    all.push_back(one->observer());
  all.push_back(held_.get());
  return actors::observers{std::move(all)};
}

void audience::end(const actors::run_summary& summary) {
  for (const auto& one : seats_)
    one->end(summary);
}

} // namespace gossamer::apps
