#pragma once

#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/apps/detail/progress.hpp"

#include <memory>
#include <string>

namespace gossamer::apps {

/// Where a launch shows its run. A thread of its own writes to standard error: a launch that waited for its terminal
/// would not hear its nodes, nor start one again. Results wait for the end, and then for standard output, as those of
/// any program do. Threads: one at a time.
class launch_screen {
public:
  /// A line on standard error; when very many wait, it is left out.
  void show(const std::string& line);
  /// Below the other lines; left out when several wait.
  void show_progress(const std::string& line);
  /// A line of what the run has come to.
  void keep_result(const std::string& line) { results_ += line + '\n'; }

  /// Takes the line of progress away, waits until everything is shown, but not for ever, and prints the results.
  void close();

private:
  std::shared_ptr<live_line> live_ = std::make_shared<live_line>(); // of the thread
  actors::side_thread thread_;
  std::string results_;
};

} // namespace gossamer::apps
