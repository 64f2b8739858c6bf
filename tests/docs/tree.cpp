// The example of docs/adding-a-topology.md: a topology.
#include "gossamer/topology/graph.hpp"

namespace gossamer::topology::detail {
namespace {

graph make_tree(const arguments& values, std::size_t size, std::uint64_t) {
  const auto children = static_cast<std::size_t>(values.integer("children"));
  std::vector<graph::edge> edges;
  for (rank i = 1; i < size; ++i)
    edges.emplace_back(static_cast<rank>((i - 1) / children), i);
  return {size, edges};
}

} // namespace

topology_entry tree() {
  return {{.name = "tree",
           .summary = "everybody talks to its parent and its children; bipartite",
           .maths = "edges {i, floor((i - 1) / k)} for i = 1 .. n-1, with k children each",
           .cost = "degree k + 1, diameter O(log n)",
           .parameters = {{.key = "children",
                           .kind = parameter::type::integer,
                           .fallback = "2",
                           .meaning = "children of each worker",
                           .min = 1,
                           .max = max_workers}}},
          make_tree};
}

} // namespace gossamer::topology::detail
