#pragma once

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "command.hpp"

namespace gossamer {

/// A test of launched runs, which finds their processes by their output.
class launched_command : public command {
protected:
  /// True once a run of three processes trains. Their lines come through pipes of their own, those of an introduction
  /// perhaps later than those of the training.
  static bool is_under_way(const support::outcome& so_far) {
    const auto has = [&](const char* text) { return so_far.err.find(text) != std::string::npos; };
    return has("epoch ") && has("this is node 1, process ") && has("this is node 2, process ");
  }

  /// Returns the process of a node, from the node's introduction. @error none is known
  static pid_t process_of(int node, const support::outcome& so_far) {
    const auto text = "this is node " + std::to_string(node) + ", process ";
    const auto found = so_far.err.find(text);
    return known(found == std::string::npos ? 0 : std::atoi(so_far.err.c_str() + found + text.size()));
  }
  /// Returns the process of the first leader: the first child of the launching process. @error none is known, perhaps
  /// because node 1 is gone, from which the launching process is found
  static pid_t leader_of(const support::outcome& so_far) {
    std::ifstream status("/proc/" + std::to_string(process_of(1, so_far)) + "/stat");
    std::string word;
    for (int k = 0; k < 4; ++k)
      status >> word;
    std::ifstream children("/proc/" + word + "/task/" + word + "/children");
    pid_t leader = 0;
    children >> leader;
    return known(leader);
  }

  /// Kills nodes of three at once, however late this test is between one and the next: nobody goes on with two nodes
  /// before the last one is gone, and none is started again.
  static void kill_at_once(const std::vector<int>& nodes, const support::subprocess& launch,
                           const support::outcome& so_far) {
    const std::array all{leader_of(so_far), process_of(1, so_far), process_of(2, so_far)};
    launch.stop();
    for (const auto one : all)
      kill(one, SIGSTOP);
    for (const int node : nodes)
      kill(all.at(static_cast<std::size_t>(node)), SIGKILL);
    for (const auto one : all) // also of the dead, whose numbers are theirs until launch goes on
      kill(one, SIGCONT);
    launch.send_signal(SIGCONT);
  }

private:
  /// Returns a process that a signal may be sent to: 0 would be all of this test's group, and -1 nearly all there are.
  static pid_t known(pid_t process) {
    if (process <= 1)
      throw std::runtime_error("the process that a test wants to signal is not known");
    return process;
  }
};

} // namespace gossamer
