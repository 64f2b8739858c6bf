// gossamer status, logs, stop and attach: later commands about a run.
#include "gossamer/apps/detail/visit.hpp"

#include "gossamer/actors/cluster/cluster_client.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/access.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/detached_runs.hpp"
#include "gossamer/apps/detail/launch_record.hpp"
#include "gossamer/apps/detail/progress.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <poll.h>
#include <sys/types.h>
#include <tuple>
#include <utility>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr int look_every_ms = 200;

void require_folder(const visit_options& o, const char* what) {
  if (is_address(o.run))
    throw error(errc::usage, fmt::format("{} is no folder, and {} is kept where a run was launched", o.run, what),
                "of a run elsewhere, gossamer status and gossamer stop can ask");
}

/// Returns the folder where the run is now.
fs::path folder_of(const visit_options& o) { return last_folder(o.run.empty() ? latest_detached() : fs::path{o.run}); }

error gone(const fs::path& folder, const launch_record& r) {
  return {errc::failed,
          fmt::format("the launch of {}, process {}, is gone and has not said how it ended", shown(folder), r.process),
          "it was killed, or its machine was started again, or is another one than this"};
}

std::string end_of(const fs::path& folder, const launch_record& r) {
  if (!r.status)
    throw gone(folder, r);
  return fmt::format("{} has ended with status {}", shown(folder), *r.status);
}

/// Returns the last evaluation of a run that has ended; "" when its summary is on another machine, or there is none.
std::string reached_in(const fs::path& folder) {
  const auto file = (folder / "summary.json").string();
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;
  return file_exists(file)
             ? evaluation_line(actors::evaluation_from_json(read_text(file, {"summary", most_bytes}))) + '\n'
             : "";
}

/// Returns whether the run goes on, and its launch's record: the last one if the process is gone.
std::pair<bool, launch_record> look_at(const fs::path& folder) {
  auto r = read_launch(folder);
  if (is_alive(r))
    return {true, std::move(r)};
  return {false, read_launch(folder)};
}

void wait_a_moment() { poll(nullptr, 0, look_every_ms); }

/// Waits until the run has ended, also where it is started again. @returns the folder of its end, and the record there
/// @param meanwhile gets the folder where the run is, and the record there
std::pair<fs::path, launch_record>
wait_for_end(fs::path folder, const std::function<void(const fs::path&, const launch_record&)>& meanwhile) {
  for (;;) {
    auto [runs, r] = look_at(folder);
    if (!r.goes_on_in.empty()) {
      folder = last_folder(folder);
    } else if (!runs) {
      return {folder, r};
    } else {
      meanwhile(folder, r);
      wait_a_moment();
    }
  }
}

/// A file that grows.
class growing_file {
public:
  explicit growing_file(const fs::path& file) : in_(file, std::ios::binary) {
    if (!in_)
      throw error(errc::io, fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)), "");
  }
  /// Skips to about the last so many bytes, at the start of a line.
  void skip_to_last(std::streamoff bytes) {
    in_.seekg(0, std::ios::end);
    if (in_.tellg() <= bytes)
      return static_cast<void>(in_.seekg(0));
    in_.seekg(-bytes, std::ios::end);
    std::string rest_of_line;
    std::getline(in_, rest_of_line);
  }
  /// @param before called when there is new text
  void print_new(const std::function<void()>& before) {
    std::array<char, 65536> bytes{};
    in_.clear();
    while (in_.read(bytes.data(), bytes.size()) || in_.gcount() > 0) {
      before();
      std::fwrite(bytes.data(), 1, static_cast<std::size_t>(in_.gcount()), stdout);
    }
    std::fflush(stdout);
  }

private:
  std::ifstream in_;
};

/// The output of a launch, which grows, and goes on in another folder where the run does.
class launch_output {
public:
  /// @param before called when there is new text
  launch_output(const fs::path& folder, std::function<void()> before)
      : before_(std::move(before)), folder_(folder), file_(std::in_place, folder / name) {}
  void skip_to_last(std::streamoff bytes) { file_->skip_to_last(bytes); }
  /// @param folder where the run is
  void print_new(const fs::path& folder) {
    file_->print_new(before_);
    if (folder == folder_)
      return;
    file_.emplace(folder / name);
    folder_ = folder;
    file_->print_new(before_);
  }

private:
  static constexpr const char* name = "output.log";
  std::function<void()> before_;
  fs::path folder_;
  std::optional<growing_file> file_;
};

int show_status_at(const program& p, const visit_options& o) {
  const auto s = actors::ask_leader(settings_of_visit(p, o));
  if (s.begun)
    fmt::print("{} is led at {}\n{}\n", printable(s.algorithm), o.run, progress_line(progress_of(s)));
  else
    fmt::print("{} is led at {}, and waits for nodes: {} of {} are there\n", printable(s.algorithm), o.run, s.there,
               s.nodes);
  return 0;
}

int stop_run_at(const program& p, const visit_options& o) {
  const clean_stop stop;
  actors::stop_cluster(settings_of_visit(p, o));
  fmt::print("the run that was led at {} has ended\n", o.run);
  return 0;
}

} // namespace

bool is_address(const std::string& run) {
  std::error_code ignored;
  return run.find(':') != std::string::npos && !fs::exists(run, ignored);
}

actors::node_settings settings_of_visit(const program& p, const visit_options& o) {
  require_private("the run", o.run, o.node.insecure || !o.node.certs.empty());
  auto s = settings_of(p, o.node, o.run, credentials_to_reach(o.node, o.run));
  s.threads = 1;
  return s;
}

int show_status(const program& p, const visit_options& o) {
  if (is_address(o.run))
    return show_status_at(p, o);
  const auto folder = folder_of(o);
  const auto [runs, r] = look_at(folder);
  if (!runs) {
    fmt::print("{}\n{}", end_of(folder, r), reached_in(folder));
    return 0;
  }
  fmt::print("{} {} as process {}, and is led at {}\n", shown(folder), r.stops ? "stops" : "runs", r.process,
             printable(r.leader));
  if (!r.progress.empty())
    fmt::print("{}\n", printable(r.progress));
  return 0;
}

int show_logs(const visit_options& o) {
  require_folder(o, "what it says");
  const auto folder = folder_of(o);
  launch_output output{folder, [] {}};
  output.print_new(folder);
  if (o.follow)
    output.print_new(wait_for_end(folder, [&](const fs::path& at, const auto&) { output.print_new(at); }).first);
  return 0;
}

int stop_run(const program& p, const visit_options& o) {
  if (is_address(o.run))
    return stop_run_at(p, o);
  const auto folder = folder_of(o);
  const auto [runs, r] = look_at(folder);
  if (!runs)
    throw error(errc::failed, end_of(folder, r), "there is nothing to stop");
  if (kill(static_cast<pid_t>(r.process), SIGINT) != 0)
    throw error(errc::io, fmt::format("cannot stop process {}: {}", r.process, std::strerror(errno)),
                "whoever launched the run can");
  const auto [last, end] = wait_for_end(folder, [](const auto&, const auto&) {});
  fmt::print("{}\n", end_of(last, end));
  return 0;
}

int leave_run(const program& p, const visit_options& o) {
  auto door = o;
  if (!is_address(o.run)) {
    const auto folder = folder_of(o);
    const auto [runs, r] = look_at(folder);
    if (!runs)
      throw error(errc::failed, end_of(folder, r), "there is no node left");
    if (!o.number)
      throw error(errc::usage, fmt::format("it is not said which node of {} shall leave", shown(folder)),
                  "add --node N; nodes/nodes.json in that folder lists all");
    door.run = r.leader;
  }
  const auto number = actors::let_leave(settings_of_visit(p, door), o.number);
  fmt::print("node {} leaves as soon as it has handed over what it has\n", number);
  return 0;
}

int attach(const visit_options& o) {
  require_folder(o, "what it says");
  auto folder = folder_of(o);
  auto [runs, r] = look_at(folder);
  if (runs) {
    live_block live;
    launch_output output{folder, [&] { live.clear(); }};
    constexpr std::streamoff a_screen = 2000;
    output.skip_to_last(a_screen);
    std::tie(folder, r) = wait_for_end(folder, [&](const fs::path& at, const launch_record& now) {
      output.print_new(at);
      live.show(printable(now.progress));
    });
    output.print_new(folder);
  }
  std::fputs((end_of(folder, r) + '\n').c_str(), stderr);
  return static_cast<int>(*r.status);
}

} // namespace gossamer::apps
