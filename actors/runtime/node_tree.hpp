#pragma once

#include <cstdint>
#include <set>
#include <utility>

namespace gossamer::actors {

/// Along which nodes something is brought to node 0: above a node is the one whose number lacks its lowest bit, or the
/// next of these that takes part. So the nodes below one are neighbours, k + 1 to k + 2^b - 1 below k with the lowest
/// bit 2^b; and where all of n nodes take part, none has more than log2 n children, and none is deeper. A value.
class node_tree {
public:
  /// @param nodes who takes part besides node 0
  explicit node_tree(std::set<std::uint32_t> nodes) : nodes_(std::move(nodes)) { nodes_.insert(0); }

  /// Requires another node than 0.
  std::uint32_t above(std::uint32_t node) const {
    do
      node &= node - 1;
    while (!nodes_.contains(node));
    return node;
  }
  std::set<std::uint32_t> children(std::uint32_t node) const {
    std::set<std::uint32_t> result;
    for (const auto n : nodes_)
      if (n != 0 && above(n) == node)
        result.insert(n);
    return result;
  }
  /// Whether it is this one, or below it whoever takes part.
  static bool is_within(std::uint32_t node, std::uint32_t top) noexcept {
    const auto lowest_bit = top & (0 - top);
    return top == 0 || (node & ~(lowest_bit - 1)) == top;
  }

private:
  std::set<std::uint32_t> nodes_;
};

} // namespace gossamer::actors
