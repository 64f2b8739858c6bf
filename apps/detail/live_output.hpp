#pragma once

#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/apps/detail/onlookers.hpp"
#include "gossamer/apps/detail/program.hpp"
#include "gossamer/apps/detail/progress.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace gossamer::apps {

struct live_output_settings {
  bool announces = false;                         ///< a program has started this one, and reads standard output
  bool live = false;                              ///< that program wants to know all that a live page shows
  std::shared_ptr<onlookers> elsewhere = nullptr; ///< may ask for lines of the run; null: nobody can
  bool in_place = true;                           ///< as in `progress`
};

/// The output of this process while a run in real time is under way. A thread for each of standard error, standard
/// output and the disk writes it. So no node, which others must hear of in time, and no worker waits for a terminal, a
/// pipe or a disk that stalls. The log goes the same way during the lifetime of this object.
/// Threads: any may call any member; one makes and destroys it, outside of the run.
class live_output {
public:
  using voice = std::function<void(const std::string&)>;

  /// @param p gives its name, and says whether there are results to show
  live_output(const program& p, live_output_settings s);
  live_output(const live_output&) = delete;
  live_output& operator=(const live_output&) = delete;
  /// Waits as `close` does.
  ~live_output();

  /// Writes a line to standard error, behind the name of the program; left out when very many wait there.
  void say(const std::string& line) const { voice_(line); }
  /// Returns the function behind `say`, which may outlive this object.
  const voice& to_say() const noexcept { return voice_; }

  bool has_results() const noexcept { return has_results_; }
  bool announces() const noexcept { return announcements_ != nullptr; }
  /// True if the program that has started this one wants lines for a live page.
  bool announces_live() const noexcept { return announces() && live_; }
  /// Null: nobody can look on from elsewhere.
  onlookers* elsewhere() const noexcept { return elsewhere_.get(); }
  /// True if a terminal shows a line for each of so many workers.
  bool shows_each_of(std::size_t workers) const { return progress::shows_each_of(workers, in_place_); }
  /// Writes a line to standard output for the program that has started this one. Does nothing if there is none.
  void announce(std::string_view what, const std::string& line = {});
  /// Announces a line that the next one replaces; left out when several wait.
  void announce_lightly(std::string_view what, const std::string& line);
  /// Announces a line that is made in the thread of standard output. @returns false if so many wait that it is left out
  bool announce_later(std::string_view what, std::function<std::string()> line, std::size_t most_waiting);

  /// Shows a run on standard error.
  const std::shared_ptr<actors::run_observer>& shown() const noexcept { return shown_; }
  actors::side_thread& disk() noexcept { return *disk_; }

  /// Waits until everything is written, for a limited time if it is not read. Says how much was left out before.
  /// @returns a message for another place, because standard error is not read; empty: none
  std::string close();

private:
  std::shared_ptr<actors::side_thread> screen_;
  std::unique_ptr<actors::side_thread> announcements_, disk_;
  std::shared_ptr<progress> lines_; // used by the thread of the screen
  std::shared_ptr<actors::run_observer> shown_;
  voice voice_;
  std::shared_ptr<spdlog::logger> log_before_;
  bool live_, in_place_;
  std::shared_ptr<onlookers> elsewhere_;
  bool closed_ = false;
  bool has_results_;
};

} // namespace gossamer::apps
