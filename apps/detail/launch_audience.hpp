#pragma once

#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/apps/detail/launch.hpp"
#include "gossamer/apps/detail/launch_page.hpp"
#include "gossamer/apps/detail/launch_trace.hpp"
#include "gossamer/apps/detail/written_file.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gossamer::apps {

/// Those who watch a launched run besides its terminal and its folder: the page, readers of lines of JSON, the picture
/// for Perfetto. They survive every node, and all nodes that are started again. Threads: one, which waits for none of
/// them until the end.
class launch_audience {
public:
  /// @error as `launch_page` and `launch_trace`
  launch_audience(const program& p, const launch_options& how, std::size_t nodes);

  /// Takes in what the leader has announced as `live_is`.
  void hear(const std::string& type, const std::string& line);
  /// Takes in what a node has announced as `trace_is`. @error errc::bad_data
  void hear_trace(std::size_t node, const std::string& announced);
  /// All nodes are started again. @param why for people
  void begin_again(const std::string& why);
  /// @param how the run has ended, for people @returns a line for people; may be empty
  /// @error errc::io when a file cannot be written
  std::string end(const std::string& how);

  /// Null: there is no page.
  launch_page* page() noexcept { return page_ ? &*page_ : nullptr; }

private:
  /// Lines on standard output. A failure does not end the run.
  struct json_lines {
    std::shared_ptr<written_file> file = std::make_shared<written_file>("-", "--ui");
    actors::side_thread thread = {};
    void write(const std::string& type, const std::string& line);
  };

  std::optional<launch_page> page_;
  std::optional<launch_trace> trace_;
  std::unique_ptr<json_lines> json_; // null: nobody wants any
};

} // namespace gossamer::apps
