#pragma once

#include "gossamer/compute/partition.hpp"

#include <algorithm>

namespace gossamer::compute::detail {

/// Moves one sample from the largest shard, the first of equals, to each empty one of a worker that is there.
/// @param there by rank
inline void give_everyone_one(shards& dealt, const std::vector<bool>& there) {
  for (std::size_t i = 0; i < dealt.size(); ++i)
    if (there[i] && dealt[i].empty()) {
      auto& largest = *std::ranges::max_element(dealt, {}, &shards::value_type::size);
      dealt[i].push_back(largest.back());
      largest.pop_back();
    }
}

} // namespace gossamer::compute::detail
