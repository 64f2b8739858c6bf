#include "gossamer/topology/detail/search.hpp"

namespace gossamer::topology::detail {
namespace {

void grow(forest& trees, std::vector<bool>& reached, const graph& g, rank root) {
  std::vector<rank> queue{root};
  reached[root] = true;
  trees.root[root] = trees.parent[root] = root;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const rank i = queue[next];
    for (rank j : g.neighbours(i)) {
      if (reached[j])
        continue;
      reached[j] = true;
      trees.root[j] = root;
      trees.parent[j] = i;
      trees.depth[j] = trees.depth[i] + 1;
      queue.push_back(j);
    }
  }
}

} // namespace

forest search(const graph& g, rank first) {
  forest trees{std::vector<rank>(g.size()), std::vector<rank>(g.size()), std::vector<std::size_t>(g.size())};
  std::vector<bool> reached(g.size());
  if (first < g.size())
    grow(trees, reached, g, first);
  for (rank i = 0; i < g.size(); ++i)
    if (!reached[i])
      grow(trees, reached, g, i);
  return trees;
}

} // namespace gossamer::topology::detail
