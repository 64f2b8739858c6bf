#include "gossamer/topology/graph.hpp"

#include "gossamer/topology/detail/search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::topology {

graph::graph(std::size_t size, std::span<const edge> edges) : neighbours_(size) {
  for (const auto& [i, j] : edges) {
    if (i >= size || j >= size)
      throw error(errc::usage, fmt::format("the edge {}-{} leaves a graph of {} nodes", i, j, size),
                  "node numbers begin at 0");
    if (i == j)
      throw error(errc::usage, fmt::format("the edge {}-{} joins a node to itself", i, j),
                  "leave it out: every node mixes with itself anyway");
    neighbours_[i].push_back(j);
    neighbours_[j].push_back(i);
  }
  for (auto& list : neighbours_) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

bool graph::adjacent(rank i, rank j) const { return std::ranges::binary_search(neighbours_[i], j); }

std::vector<graph::edge> graph::edges() const {
  std::vector<edge> result;
  for (rank i = 0; i < size(); ++i)
    for (rank j : neighbours(i))
      if (i < j)
        result.emplace_back(i, j);
  return result;
}

bool graph::connected() const {
  const auto trees = detail::search(*this);
  return std::ranges::all_of(trees.root, [](rank root) { return root == 0; });
}

bool graph::regular() const {
  return std::ranges::all_of(neighbours_, [this](const auto& list) { return list.size() == degree(0); });
}

std::size_t graph::diameter() const {
  GOSSAMER_ASSERT(connected(), "a diameter is asked of connected graphs only");
  std::size_t longest = 0;
  for (rank i = 0; i < size(); ++i)
    longest = std::max(longest, std::ranges::max(detail::search(*this, i).depth));
  return longest;
}

} // namespace gossamer::topology
