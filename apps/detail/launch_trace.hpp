#pragma once

#include "gossamer/actors/hosting/merged_trace.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// The picture of all processes of a launch, for Perfetto. It survives each of them. Threads: one at a time.
class launch_trace {
public:
  /// @error errc::io if there can be no such file
  launch_trace(std::string file, std::size_t nodes);

  /// All nodes are started again.
  void begin_again();
  /// Takes in what a node has announced as `trace_is`. @error errc::bad_data
  void hear(std::size_t node, const std::string& announced);
  /// Writes the file. @returns a line about it, for people @error errc::io
  std::string write();

private:
  struct close_file {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  [[noreturn]] void refuse() const;

  std::string name_;
  std::unique_ptr<std::FILE, close_file> file_;
  std::uint32_t beginning_ = 0;
  std::vector<std::optional<std::uint32_t>> process_of_; ///< by node; nothing: it has said nothing yet
  actors::merged_trace all_;
  stopwatch since_start_;
};

} // namespace gossamer::apps
