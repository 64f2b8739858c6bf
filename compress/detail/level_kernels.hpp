#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace gossamer::compress::detail {

/// Evenly spaced levels: level k stands for (k - offset) * step + middle. Each operation is rounded to a 32-bit float.
struct level_grid {
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  float step = 0;
  float inverse = 0;                      ///< 1 / step; an element lies at level (v - middle) * inverse + offset
  float bottom = 0, top = 0;              ///< the first and the last level; bottom < 0 makes codes two's complement
  float offset = 0;                       ///< the level at `middle`, not necessarily a whole number
  float low = -infinity, high = infinity; ///< values of levels are clamped to this range
  /// True if the ends are exact: bottom and top stand for low and high, and low and high become bottom and top whatever
  /// the random numbers. Otherwise middle is 0.
  bool exact_ends = false;
  float middle = 0;
};

/// Elements that the kernels take at once: their values, random words and codes stay in the first-level cache. A
/// multiple of 8, so that every block begins on a whole byte whatever the width.
inline constexpr std::size_t level_block = 2048;

/// Where the number u in [0, 1) comes from that decides whether an element is rounded up.
enum class rounding : std::uint8_t {
  words,  ///< u = (word >> 8) * 2^-24: word i of the step belongs to element i
  halves, ///< u = (half + 1/2) * 2^-16: half i of the step, of a stream of its own (`half_stream`), belongs to element
          ///< i
  nearest ///< u = 1/2
};

/// The random word of 32 bits that gives the same u as this half of one.
constexpr std::uint32_t word_of_half(std::uint32_t half) noexcept { return half << 16 | 0x8000u; }

/// The random bits of one block: a word for each element, or one for two, the lower half for the first.
struct level_bits {
  alignas(64) std::uint32_t words[level_block];
  bool halved;

  std::uint32_t word(std::size_t i) const noexcept {
    return halved ? word_of_half(words[i / 2] >> 16 * (i % 2) & 0xFFFFu) : words[i];
  }
};

/// The codes of one block, in a byte each when they have up to 8 bits and else in two.
struct level_codes {
  alignas(64) std::byte bytes[2 * level_block];
};

/// Rounds elements at random to codes of 1..16 bits: up when u < the fraction; then clamps.
/// @param first place of the first element in the block
void quantise_levels(int bits, const level_grid& grid, std::span<const float> v, const level_bits& random,
                     level_codes& codes, std::size_t first) noexcept;
/// Writes the values of codes to v.
void dequantise_levels(int bits, const level_grid& grid, const level_codes& codes, std::size_t first,
                       std::span<float> v) noexcept;

/// Packs the first `count` codes of a block.
/// @param out ceil(bits * count / 8) bytes
void pack_levels(int bits, level_codes& codes, std::size_t count, std::byte* out) noexcept;
void unpack_levels(int bits, const std::byte* in, std::size_t count, level_codes& codes) noexcept;

/// The least and the greatest element, 0 always as +0. Both are infinite for an empty span.
struct value_range {
  float low = level_grid::infinity, high = -level_grid::infinity;
};
/// @returns a NaN as both ends when any element is NaN
value_range range_of(std::span<const float> v) noexcept;

} // namespace gossamer::compress::detail
