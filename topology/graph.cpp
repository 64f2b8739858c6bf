#include "gossamer/topology/graph.hpp"

#include "gossamer/topology/detail/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gossamer::topology {

void require_edges(std::string_view what, double edges) {
  if (edges > static_cast<double>(max_edges))
    throw error(errc::usage, fmt::format("{} would have {:.0f} edges", what, edges),
                fmt::format("allowed: {} edges; choose a topology with fewer, e.g. exponential", max_edges));
}

graph::graph(std::size_t size, std::span<const edge> edges) : first_(size + 1) {
  require_edges(fmt::format("a graph of {} nodes", size), static_cast<double>(edges.size()));
  for (const auto& [i, j] : edges) {
    if (i >= size || j >= size)
      throw error(errc::usage, fmt::format("the edge {}-{} leaves a graph of {} nodes", i, j, size),
                  "node numbers begin at 0");
    if (i == j)
      throw error(errc::usage, fmt::format("the edge {}-{} joins a node to itself", i, j),
                  "leave it out: every node mixes with itself anyway");
    ++first_[i + 1];
    ++first_[j + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  neighbours_.resize(2 * edges.size());
  auto next = first_;
  for (const auto& [i, j] : edges) {
    neighbours_[next[i]++] = j;
    neighbours_[next[j]++] = i;
  }
  drop_repetitions();
}

/// Sorts each node's neighbours, and closes the gaps that repeated edges leave.
void graph::drop_repetitions() {
  auto end = neighbours_.begin();
  for (rank i = 0; i < size(); ++i) {
    const auto begin = neighbours_.begin() + first_[i], behind = neighbours_.begin() + first_[i + 1];
    std::sort(begin, behind);
    first_[i] = static_cast<std::uint32_t>(end - neighbours_.begin());
    for (auto j = begin, last = std::unique(begin, behind); j != last; ++j)
      *end++ = *j;
  }
  first_.back() = static_cast<std::uint32_t>(end - neighbours_.begin());
  neighbours_.erase(end, neighbours_.end());
}

bool graph::adjacent(rank i, rank j) const { return std::ranges::binary_search(neighbours(i), j); }

std::vector<graph::edge> graph::edges() const {
  std::vector<edge> result;
  result.reserve(neighbours_.size() / 2);
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
  const auto other = [this](std::uint32_t begin, std::uint32_t end) { return end - begin != degree(0); };
  return std::ranges::adjacent_find(first_, other) == first_.end();
}

std::size_t graph::diameter() const {
  GOSSAMER_ASSERT(connected(), "a diameter is asked of connected graphs only");
  std::size_t longest = 0;
  for (rank i = 0; i < size(); ++i)
    longest = std::max(longest, std::ranges::max(detail::search(*this, i).depth));
  return longest;
}

} // namespace gossamer::topology
