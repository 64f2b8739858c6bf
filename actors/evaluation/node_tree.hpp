#pragma once

#include <cstdint>
#include <set>
#include <utility>

namespace gossamer::actors {

/// The tree of nodes along which data reaches one of them, the root, which swaps numbers with node 0. Above a node is
/// the node whose number lacks its lowest bit, or the next of these that takes part. The nodes below a node are thus
/// neighbours, k + 1 to k + 2^b - 1 below k with the lowest bit 2^b. Where all of n nodes take part, none has more than
/// log2 n children, and none is deeper. A value.
class node_tree {
public:
  /// @param nodes those that take part besides the root
  explicit node_tree(const std::set<std::uint32_t>& nodes, std::uint32_t root = 0) : root_(root) {
    seats_.insert(0);
    for (const auto n : nodes)
      seats_.insert(swapped(n));
  }

  std::uint32_t root() const noexcept { return root_; }
  /// Requires another node than the root.
  std::uint32_t above(std::uint32_t node) const { return swapped(seat_above(swapped(node))); }
  std::set<std::uint32_t> children(std::uint32_t node) const {
    std::set<std::uint32_t> result;
    for (const auto s : seats_)
      if (s != 0 && seat_above(s) == swapped(node))
        result.insert(swapped(s));
    return result;
  }
  /// True if `node` is `top` or below it, whichever nodes take part.
  bool is_within(std::uint32_t node, std::uint32_t top) const noexcept {
    const auto seat = swapped(node), above = swapped(top);
    const auto lowest_bit = above & (0 - above);
    return above == 0 || (seat & ~(lowest_bit - 1)) == above;
  }

private:
  std::uint32_t swapped(std::uint32_t n) const noexcept { return n == 0 ? root_ : n == root_ ? 0 : n; }
  std::uint32_t seat_above(std::uint32_t seat) const {
    do
      seat &= seat - 1;
    while (!seats_.contains(seat));
    return seat;
  }

  std::uint32_t root_;
  std::set<std::uint32_t> seats_;
};

} // namespace gossamer::actors
