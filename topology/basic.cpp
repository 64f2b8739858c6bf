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

std::vector<graph::edge> ring_of(std::size_t size) {
  std::vector<graph::edge> edges;
  for (rank i = 1; i < size; ++i)
    edges.emplace_back(i - 1, i);
  if (size > 2)
    edges.emplace_back(static_cast<rank>(size - 1), 0);
  return edges;
}

graph make_ring(const arguments&, std::size_t size, std::uint64_t) { return {size, ring_of(size)}; }

graph make_even_ring(const arguments&, std::size_t size, std::uint64_t) {
  auto edges = ring_of(size - size % 2);
  if (size % 2 == 1 && size > 1) {
    edges.emplace_back(0, static_cast<rank>(size - 1));
    if (size > 3)
      edges.emplace_back(2, static_cast<rank>(size - 1));
  }
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

topology_entry even_ring() {
  return {{.name = "even-ring",
           .summary = "the ring; where n is odd, the last worker has the same neighbours as worker 1: always bipartite",
           .maths = "n even: the edges of ring. n odd: those of ring for n - 1 workers, {0, n-1} and {2, n-1}",
           .cost = "degree 2, 3 for workers 0 and 2 where n is odd; diameter about n/2"},
          make_even_ring};
}

topology_entry automatic() {
  return {{.name = "auto",
           .summary = "what fits the algorithm: even-ring where it needs a bipartite graph (ad-psgd), ring elsewhere",
           .maths = "as even-ring or ring",
           .cost = "as even-ring or ring"},
          make_ring};
}

} // namespace gossamer::topology::detail
