#pragma once

#include "gossamer/topology/graph.hpp"

#include <vector>

namespace gossamer::topology {

/// A 2-colouring: no edge inside a class. In AD-PSGD active workers start exchanges and passive ones answer, so that no
/// worker waits for a waiting one. Both classes ascend.
struct bipartition {
  std::vector<rank> active;
  std::vector<rank> passive;

  friend bool operator==(const bipartition&, const bipartition&) = default;
};

/// Colours by breadth-first search: in each connected component the nodes at an odd distance from
/// its lowest node are active and the others passive; a node without neighbours is active. On a
/// ring the odd numbers are active. O(nodes + edges).
/// @error errc::usage when the graph has an odd cycle; names one, and the topologies that have none
bipartition split(const graph& g);

/// A bipartite graph with the same connected components: keeps the edges that join different
/// colours of a breadth-first tree and drops the others. A bipartite graph comes back unchanged.
graph bipartite_part(const graph& g);

} // namespace gossamer::topology
