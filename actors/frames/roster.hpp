#pragma once

#include <cstdint>
#include <vector>

namespace gossamer::actors {

/// Which life each worker and master is in, by rank. One list for all: a copy each would grow with the square of the
/// workers.
struct roster {
  std::vector<std::uint32_t> incarnations;
  std::vector<bool> present; ///< false: lost, and not back yet
};

} // namespace gossamer::actors
