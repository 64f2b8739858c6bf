#pragma once

#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/apps/detail/progress.hpp"

#include <memory>
#include <string>

namespace gossamer::apps {

/// The display of a launch. A thread of its own writes to standard error: a launch that waited for its terminal would
/// not hear its nodes, nor start one again. Results wait for the end, and then for standard output, as those of any
/// program do. Threads: one at a time.
class launch_screen {
public:
  /// @param in_place false: no lines of progress
  explicit launch_screen(bool in_place) : live_(std::make_shared<live_block>(in_place)) {}

  /// Shows a line on standard error; left out when very many wait.
  void show(const std::string& line);
  /// Shows a line below the others; left out when several wait.
  void show_progress(const std::string& line);
  /// Keeps a line of the run's results.
  void keep_result(const std::string& line) { results_ += line + '\n'; }

  /// Takes the line of progress away, waits for a limited time until everything is shown, and prints the results.
  void close();

private:
  std::shared_ptr<live_block> live_; // used by the thread alone
  actors::side_thread thread_;
  std::string results_;
};

} // namespace gossamer::apps
