#pragma once

#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/progress.hpp"

#include <memory>
#include <string>

namespace gossamer::apps {

/// The display of a launch. A thread of its own writes to standard error: a launch that waited for its terminal would
/// not hear its nodes, nor start one again. Results wait for the end, and then for standard output, as those of any
/// program do; lines of a program of the user's, only while nobody reads them. Threads: one at a time.
class launch_screen {
public:
  /// @param at_once results are shown as they come
  launch_screen(ui shown, bool at_once)
      : shown_(shown), live_(std::make_shared<live_block>(shown == ui::live)), at_once_(at_once) {}

  /// Shows a line on standard error; left out when very many wait.
  void show(const std::string& line);
  /// Shows what a line for a live page says in the block below the others; left out when several wait.
  /// @error errc::bad_data
  void renew(const std::string& type, const std::string& line);
  /// Keeps a line of the run's results. Where lines of JSON go to standard output, people read standard error.
  void keep_result(const std::string& line);

  /// Takes the block away, waits for a limited time until everything is shown, and prints the results.
  void close();

private:
  bool write(int file, const std::string& line);

  ui shown_;
  std::shared_ptr<live_block> live_; // used by the thread alone
  progress_picture picture_;
  bool at_once_;
  actors::side_thread thread_;
  std::string results_;
};

} // namespace gossamer::apps
