// A program of its own: the whole gossamer command, with one more codec, topology and optimiser.
#include "own_parts.hpp"

#include "gossamer/apps/command.hpp"

#include <array>

// snippet main begin
int main(int argc, char** argv) {
  const std::array codecs{gossamer::own::codec};
  const std::array topologies{gossamer::own::topology_of_racks};
  const std::array optimisers{gossamer::own::optimiser};
  return gossamer::apps::run_command(argc, argv,
                                     {.codecs = codecs, .topologies = topologies, .optimisers = optimisers});
}
// snippet main end
