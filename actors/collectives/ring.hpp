#pragma once

#include "gossamer/base/vec.hpp"
#include "gossamer/topology/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace gossamer::actors {

using topology::rank;

/// Consecutive elements of a vector.
struct segment {
  std::size_t begin, size;

  /// The k-th of `count` parts, counted round, with edges floor(k size / count). If parts must begin at multiples of
  /// `grain`, the edges are floor(k ceil(size / grain) / count) * grain.
  segment part(std::size_t k, std::size_t count, std::size_t grain = 1) const noexcept {
    const auto grains = (size + grain - 1) / grain;
    const auto edge = [&](std::size_t i) { return std::min(i * grains / count * grain, size); };
    return {begin + edge(k % count), edge(k % count + 1) - edge(k % count)};
  }

  bool holds(segment other) const noexcept { return begin <= other.begin && other.begin + other.size <= begin + size; }

  std::span<const float> of(const vec& v) const { return v.view().subspan(begin, size); }
  std::span<float> of(vec& v) const { return v.mutate().subspan(begin, size); }
  /// The same elements as a vector, which shares v's storage.
  vec part_of(const vec& v) const { return v.part(begin, size); }

  friend bool operator==(const segment&, const segment&) = default;
};

/// A worker's place in a ring: each member sends to the next one only, and receives from the previous one only.
struct ring {
  std::size_t size;     ///< M
  std::size_t position; ///< m, from 0
  rank next, previous;  ///< the worker itself if it is alone

  /// @param members ascending; `self` is one of them. Not kept.
  ring(rank self, std::span<const rank> members)
      : size(members.size()),
        position(static_cast<std::size_t>(std::ranges::lower_bound(members, self) - members.begin())),
        next(members[(position + 1) % size]), previous(members[(position + size - 1) % size]) {}

  /// The positions of the other members, from the next one on. Members that send to all others in this order do not
  /// meet at one receiver.
  std::vector<std::size_t> others() const {
    std::vector<std::size_t> result(size - 1);
    for (std::size_t k = 0; k < result.size(); ++k)
      result[k] = (position + k + 1) % size;
    return result;
  }
};

} // namespace gossamer::actors
