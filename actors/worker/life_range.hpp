#pragma once

#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/base/error.hpp"

#include <span>
#include <vector>

namespace gossamer::actors {

/// Neighbouring ranks with the same incarnation number. A list of thousands that have never died takes a few bytes.
struct life_range {
  rank first = 0;
  std::uint32_t ranks = 0, incarnation = 0;

  friend bool operator==(const life_range&, const life_range&) = default;
};

/// @param lives ascending
inline std::vector<life_range> ranges_of(std::span<const life> lives) {
  std::vector<life_range> result;
  for (const auto& one : lives)
    if (!result.empty() && result.back().first + result.back().ranks == one.who
        && result.back().incarnation == one.incarnation)
      ++result.back().ranks;
    else
      result.push_back({one.who, 1, one.incarnation});
  return result;
}

/// @error errc::bad_packet if the ranges are not ascending, or name a rank beyond the participants
inline std::vector<life> lives_in(std::span<const life_range> ranges, std::size_t participants) {
  std::vector<life> result;
  std::uint64_t next = 0;
  for (const auto& range : ranges) {
    const auto end = std::uint64_t{range.first} + range.ranks;
    if (range.first < next || end > participants)
      throw error(errc::bad_packet, "an order names workers that there are not", "");
    for (next = range.first; next < end; ++next)
      result.push_back({static_cast<rank>(next), range.incarnation});
  }
  return result;
}

} // namespace gossamer::actors
