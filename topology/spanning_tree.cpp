#include "gossamer/topology/spanning_tree.hpp"

#include "gossamer/topology/detail/search.hpp"

namespace gossamer::topology {

graph spanning_tree(const graph& g, rank root) {
  const auto trees = detail::search(g, root);
  std::vector<graph::edge> edges;
  for (rank i = 0; i < g.size(); ++i)
    if (trees.root[i] == root && i != root)
      edges.emplace_back(i, trees.parent[i]);
  return {g.size(), edges};
}

} // namespace gossamer::topology
