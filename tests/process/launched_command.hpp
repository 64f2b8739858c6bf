#pragma once

#include "command.hpp"

namespace gossamer {

/// A test of launched runs, which finds their processes by their output.
class launched_command : public command {
protected:
  /// Returns the process of a node, from the node's introduction.
  static pid_t process_of(int node, const support::outcome& so_far) {
    const auto text = "this is node " + std::to_string(node) + ", process ";
    const auto found = so_far.err.find(text);
    EXPECT_NE(found, std::string::npos) << so_far.err;
    return std::stoi(so_far.err.substr(found + text.size()));
  }
  /// Returns the process of the first leader: the first child of the launching process.
  static pid_t leader_of(const support::outcome& so_far) {
    std::ifstream status("/proc/" + std::to_string(process_of(1, so_far)) + "/stat");
    std::string word;
    for (int k = 0; k < 4; ++k)
      status >> word;
    std::ifstream children("/proc/" + word + "/task/" + word + "/children");
    pid_t leader = 0;
    children >> leader;
    return leader;
  }
};

} // namespace gossamer
