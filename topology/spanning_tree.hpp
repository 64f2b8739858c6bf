#pragma once

#include "gossamer/topology/graph.hpp"

namespace gossamer::topology {

/// Returns the tree of a breadth-first search from `root`: each node that the root reaches is joined to the first
/// neighbour, in ascending order, that is a step nearer. No path from the root is longer in the tree than in the graph,
/// so the tree's diameter is at most twice the graph's. All other nodes have no edges. O(nodes + edges).
[[nodiscard]] graph spanning_tree(const graph& g, rank root);

} // namespace gossamer::topology
