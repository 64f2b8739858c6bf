#pragma once

#include "gossamer/topology/graph.hpp"

#include <cstddef>
#include <vector>

namespace gossamer::topology::detail {

/// Breadth-first trees that cover a graph, one for each connected component.
struct forest {
  std::vector<rank> root;   ///< the root of the tree that holds the node
  std::vector<rank> parent; ///< a root is its own parent
  std::vector<std::size_t> depth;
};

/// Searches from `first`, and then from the lowest unreached node, until all are reached. Neighbours are visited in
/// ascending order, so the trees are a function of the graph. O(nodes + edges).
forest search(const graph& g, rank first = 0);

} // namespace gossamer::topology::detail
