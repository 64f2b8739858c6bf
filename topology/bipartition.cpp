#include "gossamer/topology/bipartition.hpp"

#include "gossamer/topology/detail/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gossamer::topology {
namespace {

/// Returns the cycle that the edge i-j closes in the tree: it begins where the two ways to the root part.
std::vector<rank> cycle_through(const detail::forest& trees, rank i, rank j) {
  std::vector<rank> front{i}, back{j};
  while (front.back() != back.back()) {
    auto& deeper = trees.depth[front.back()] >= trees.depth[back.back()] ? front : back;
    deeper.push_back(trees.parent[deeper.back()]);
  }
  std::vector<rank> cycle(front.rbegin(), front.rend());
  cycle.insert(cycle.end(), back.begin(), back.end());
  return cycle;
}

} // namespace

bipartition split(const graph& g) {
  const auto trees = detail::search(g);
  for (const auto& [i, j] : g.edges())
    if (trees.depth[i] % 2 == trees.depth[j] % 2)
      throw error(
          errc::usage,
          fmt::format("the graph is not bipartite: the cycle {} has odd length",
                      fmt::join(cycle_through(trees, i, j), "-")),
          "choose auto or even-ring, ring or exponential with an even number of workers, torus with even sides, "
          "hypercube or star, or keep only the bipartite part of this graph");
  bipartition classes;
  for (rank i = 0; i < g.size(); ++i)
    (trees.depth[i] % 2 == 1 || g.degree(i) == 0 ? classes.active : classes.passive).push_back(i);
  return classes;
}

// An edge of a breadth-first tree joins the depths d and d + 1, which differ in parity. So the tree
// itself is kept, and it spans its component: no component falls apart. Every edge that is kept
// joins an even and an odd depth, hence the parity of the depth is a 2-colouring of the result.
graph bipartite_part(const graph& g) {
  const auto trees = detail::search(g);
  auto edges = g.edges();
  std::erase_if(edges, [&](const auto& e) { return trees.depth[e.first] % 2 == trees.depth[e.second] % 2; });
  return {g.size(), edges};
}

} // namespace gossamer::topology
