#pragma once

#include "gossamer/topology/graph.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gossamer::actors {

using topology::rank;

/// 2^level neighbouring ranks, from index * 2^level on.
struct rank_block {
  std::uint32_t level = 0, index = 0;

  rank_block sibling() const noexcept { return {level, index ^ 1}; }
  rank_block parent() const noexcept { return {level + 1, index >> 1}; }
  bool is_right() const noexcept { return (index & 1) != 0; }
  std::uint64_t begin() const noexcept { return std::uint64_t{index} << level; }
  std::uint64_t end() const noexcept { return (std::uint64_t{index} + 1) << level; }

  friend auto operator<=>(const rank_block&, const rank_block&) = default;
};

/// Merges parts along one binary tree over all ranks: two siblings become their parent as soon as both are there, and
/// where one of them has no ranks, the other one stands for both. The result thus depends, to the last bit, on the
/// ranks alone, and neither on the order of arrival nor on the place of earlier merges.
///
/// `merge(left, right)` is found by the type of the parts. At most two parts of a level wait where neighbouring ranks
/// come together: n neighbours are 2 log2 n parts at the most. A value.
template <class Part>
class rank_tree {
public:
  /// @param everybody ranks whose parts will come, here or elsewhere; ascending
  explicit rank_tree(std::vector<rank> everybody) : everybody_(std::move(everybody)) {}

  /// Requires that no rank of this block has come, and that the part is that of all ranks in it.
  void add(rank_block where, Part part) {
    while (!is_whole(where)) {
      const auto other = parts_.find(where.sibling());
      if (other != parts_.end()) {
        part = where.is_right() ? merge(std::move(other->second), std::move(part))
                                : merge(std::move(part), std::move(other->second));
        parts_.erase(other);
      } else if (has_anybody(where.sibling())) {
        break;
      }
      where = where.parent();
    }
    parts_.emplace(where, std::move(part));
  }
  void add(const std::map<rank_block, Part>& parts) {
    for (const auto& [where, part] : parts)
      add(where, part);
  }

  /// The parts that could not be merged any further.
  const std::map<rank_block, Part>& parts() const noexcept { return parts_; }

private:
  bool is_whole(rank_block b) const { return b.index == 0 && everybody_.back() < b.end(); }
  bool has_anybody(rank_block b) const {
    const auto first = std::ranges::lower_bound(everybody_, b.begin());
    return first != everybody_.end() && *first < b.end();
  }

  std::vector<rank> everybody_;
  std::map<rank_block, Part> parts_;
};

} // namespace gossamer::actors
