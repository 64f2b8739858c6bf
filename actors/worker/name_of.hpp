#pragma once

#include "gossamer/topology/graph.hpp"

#include <fmt/format.h>

#include <string>

namespace gossamer::actors {

/// Name of the holder of a rank in messages: "worker 3", "master 0". @param worker_ranks number of ranks for workers
inline std::string name_of(topology::rank i, std::size_t worker_ranks) {
  return i < worker_ranks ? fmt::format("worker {}", i) : fmt::format("master {}", i - worker_ranks);
}

} // namespace gossamer::actors
