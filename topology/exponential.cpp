#include "gossamer/topology/detail/entries.hpp"

#include <bit>

namespace gossamer::topology::detail {
namespace {

// The paper prints the hops as 2^i + 1 for i = 0 .. floor(log2(n-1)). Its first hop would be 2, which joins workers of
// equal parity and so destroys the bipartition that the algorithm needs; the hop of 1 is meant.
std::vector<std::size_t> hops(std::size_t size) {
  std::vector<std::size_t> result{1};
  for (std::size_t power = 2; power <= std::bit_floor(size - 1); power *= 2)
    result.push_back(power + 1);
  return result;
}

graph make_exponential(const arguments&, std::size_t size, std::uint64_t) {
  std::vector<graph::edge> edges;
  for (auto hop : hops(size))
    for (rank i = 0; i < size; ++i)
      if (hop % size != 0)
        edges.emplace_back(i, static_cast<rank>((i + hop) % size));
  return {size, edges};
}

} // namespace

topology_entry exponential() {
  return {{.name = "exponential",
           .summary = "a ring with chords of exponentially growing length; bipartite when n is even",
           .maths = "i ~ i +- h mod n for h in {1} u {2^k + 1 : k = 1 .. floor(log2(n-1))}; the paper "
                    "prints "
                    "k = 0 (h = 2) in place of h = 1, which would not be bipartite",
           .reference = "Lian, Zhang, Zhang, Liu, \"Asynchronous decentralized parallel stochastic gradient "
                        "descent\", ICML 2018, section 5 (corrected)",
           .cost = "degree O(log n), diameter O(log n): 2, 2, 3, 3, 4 for n = 8, 16, 32, 64, 128"},
          make_exponential};
}

} // namespace gossamer::topology::detail
