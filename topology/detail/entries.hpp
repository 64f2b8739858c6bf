#pragma once

#include "gossamer/topology/graph.hpp"

namespace gossamer::topology::detail {

/// Number of edges of a complete graph, which may be too many to make.
inline double pairs_of(std::size_t size) { return 0.5 * static_cast<double>(size) * (static_cast<double>(size) - 1); }

// Functions rather than objects, so that the table does not depend on the order in which files are
// initialised.
topology_entry automatic();
topology_entry complete();
topology_entry star();
topology_entry ring();
topology_entry even_ring();
topology_entry torus();
topology_entry hypercube();
topology_entry exponential();
topology_entry random_regular();
topology_entry erdos_renyi();
topology_entry file();
topology_entry measured();

} // namespace gossamer::topology::detail
