// Topologies that exist for every number of workers and have no parameters.
#include "gossamer/topology/detail/entries.hpp"

#include <fmt/format.h>

namespace gossamer::topology::detail {
namespace {

graph make_complete(const arguments&, std::size_t size, std::uint64_t) {
  require_edges(fmt::format("topology 'complete' of {} workers", size), pairs_of(size));
  std::vector<graph::edge> edges;
  edges.reserve(size * (size - 1) / 2);
  for (rank i = 0; i < size; ++i)
    for (rank j = i + 1; j < size; ++j)
      edges.emplace_back(i, j);
  return {size, edges};
}

graph make_star(const arguments&, std::size_t size, std::uint64_t) {
  std::vector<graph::edge> edges;
  for (rank i = 1; i < size; ++i)
    edges.emplace_back(0, i);
  return {size, edges};
}

graph make_ring(const arguments&, std::size_t size, std::uint64_t) {
  std::vector<graph::edge> edges;
  for (rank i = 1; i < size; ++i)
    edges.emplace_back(i - 1, i);
  if (size > 2)
    edges.emplace_back(static_cast<rank>(size - 1), 0);
  return {size, edges};
}

} // namespace

topology_entry complete() {
  return {{.name = "complete",
           .summary = "everybody talks to everybody",
           .maths = "edges {i, j} for all i != j; uniform mixing averages exactly: rho = 0",
           .cost = "degree n - 1, diameter 1"},
          make_complete};
}

topology_entry star() {
  return {{.name = "star",
           .summary = "everybody talks to worker 0",
           .maths = "edges {0, i} for i = 1 .. n-1; Metropolis mixing has rho = 1 - 1/n",
           .cost = "degree n - 1 at the hub and 1 elsewhere, diameter 2"},
          make_star};
}

topology_entry ring() {
  return {{.name = "ring",
           .summary = "everybody talks to the two next to it; bipartite when n is even",
           .maths = "edges {i, i+1 mod n}; uniform mixing has eigenvalues (1 + 2 cos(2 pi k / n)) / 3",
           .cost = "degree 2, diameter n/2"},
          make_ring};
}

} // namespace gossamer::topology::detail
