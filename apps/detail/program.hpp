#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

#include <span>
#include <string>
#include <vector>

namespace gossamer::apps {

/// The running program, with its own algorithms beside the built-in ones.
class program {
public:
  /// @error errc::usage when two algorithms have one name
  program(std::string path, std::span<const actors::algorithm_entry> own);
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  const std::string& path() const noexcept { return path_; } ///< as it was called: argv[0]
  const std::string& name() const noexcept { return name_; } ///< for messages
  const registry<actors::algorithm_entry>& algorithms() const noexcept { return algorithms_; }

private:
  std::string path_, name_;
  std::vector<actors::algorithm_entry> entries_;
  registry<actors::algorithm_entry> algorithms_{"algorithm", entries_};
};

} // namespace gossamer::apps
