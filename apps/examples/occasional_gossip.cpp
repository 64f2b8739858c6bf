// A program of its own: the whole gossamer command, with one more algorithm.
#include "occasional_gossip.hpp"

#include "gossamer/apps/command.hpp"

#include <array>

// snippet main begin
int main(int argc, char** argv) {
  const std::array algorithms{own::entry()};
  return gossamer::apps::run_command(argc, argv, algorithms);
}
// snippet main end
