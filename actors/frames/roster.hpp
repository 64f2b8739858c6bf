#pragma once

#include <cstdint>
#include <vector>

namespace gossamer::actors {

/// The incarnation of each worker and master, by rank. All share one list, since a copy each would grow with the square
/// of the number of workers.
struct roster {
  std::vector<std::uint32_t> incarnations;
  std::vector<bool> present; ///< false: lost, and not back yet
};

} // namespace gossamer::actors
