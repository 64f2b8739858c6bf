#pragma once

#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/apps/detail/progress.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace gossamer::apps {

/// What this process writes while a run in real time is under way. A thread for each of standard error, standard output
/// and the disk does it, so that neither a node, which others must hear of in time, nor a worker waits for a terminal,
/// a pipe or a disk that stalls. As long as this lives, the log goes the same way.
/// Threads: any may call any member; one makes and destroys it, outside of the run.
class live_output {
public:
  using voice = std::function<void(const std::string&)>;

  /// @param name of the program
  /// @param announces whether a program has started this one, and reads standard output
  live_output(const std::string& name, bool announces);
  live_output(const live_output&) = delete;
  live_output& operator=(const live_output&) = delete;
  /// Waits as `close` does.
  ~live_output();

  /// A line on standard error, behind the name of the program; when very many wait there, it is left out.
  void say(const std::string& line) const { voice_(line); }
  /// What says so: it may outlive this object.
  const voice& to_say() const noexcept { return voice_; }

  bool announces() const noexcept { return announcements_ != nullptr; }
  /// A line on standard output for the program that has started this one. Nothing, if none has.
  void announce(std::string_view what, const std::string& line = {});
  /// The same for a line that the next one corrects: when several wait, it is left out.
  void announce_lightly(std::string_view what, const std::string& line);

  /// Shows a run on standard error.
  const std::shared_ptr<actors::run_observer>& shown() const noexcept { return shown_; }
  actors::side_thread& disk() noexcept { return *disk_; }

  /// Waits until everything is written, but not for ever where nobody reads it. Says how much was left out before.
  /// @returns what there is to say elsewhere, because nobody reads standard error; empty: nothing
  std::string close();

private:
  std::shared_ptr<actors::side_thread> screen_;
  std::unique_ptr<actors::side_thread> announcements_, disk_;
  std::shared_ptr<progress> lines_; // of the screen
  std::shared_ptr<actors::run_observer> shown_;
  voice voice_;
  std::shared_ptr<spdlog::logger> log_before_;
  bool closed_ = false;
};

} // namespace gossamer::apps
