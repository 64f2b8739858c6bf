#pragma once

#include "gossamer/base/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// Bits that are 1 with one probability p, from far fewer random words than one a bit: the binary digits of p are
// compared with random ones, from the most significant on, until every bit of a tile is decided.
namespace gossamer::compress::detail {

/// Plane k of a step is its entries from k times this on; they have digit k of 32 elements each.
inline constexpr std::uint64_t plane_entries = std::uint64_t{1} << 57;

/// Random words of a plane that are compared at once: what `random_stream::fill` draws in one go, and a multiple of any
/// register.
inline constexpr std::size_t tile_words = 192;

/// floor(2^32 part / whole), for 0 < part < whole.
constexpr std::uint32_t limit_of(std::uint64_t part, std::uint64_t whole) noexcept {
  return static_cast<std::uint32_t>((part << 32) / whole);
}

/// Flips bit i where u_i < limit, so with probability limit / 2^32. Digit k of the 32 of u_i, from the most significant
/// on, is bit e mod 32 of entry k 2^57 + e / 32 of the step, e = first + i.
///
/// Planes are drawn until nothing is undecided or the rest of the limit is 0: one for p = 1/2, two for 3/4, about 13
/// for others, so 0.4 words an element.
/// @param first a multiple of 64
/// @param bits  one for each of `elements`, and 0 behind them, which stays
/// @returns how many random words the bits took
std::uint64_t flip_bits(std::uint64_t limit, const random_stream& random, std::uint64_t step, std::uint64_t first,
                        std::size_t elements, std::span<std::uint64_t> bits) noexcept;

} // namespace gossamer::compress::detail
