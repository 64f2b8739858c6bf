#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// The inner loops of codecs that keep each element with a probability. They append what is kept of a block, and return
// how much that is. Whole registers are written, so what lies up to one word an element behind the end is lost.
namespace gossamer::compress::detail {

/// Elements that the kernels take at once: their random words stay in the first-level cache.
inline constexpr std::size_t draw_block = 2048;

/// Where the places and values of elements that are kept are appended.
struct kept_end {
  std::uint32_t* places;
  float* values;
};

/// Keeps place first + i where bit i of `size` is 1.
/// @param bits with room for eight bytes behind the last bit
std::size_t keep_places(const std::uint64_t* bits, std::size_t size, std::uint32_t first,
                        std::uint32_t* places) noexcept;

/// Keeps v_i and its place first + i where bit i is 1, unless it is 0.
/// @param bits with room for eight bytes behind the last bit
std::size_t keep_marked(std::span<const float> v, const std::uint64_t* bits, std::uint32_t first, kept_end to) noexcept;

/// Keeps v_i and its place first + i where u * level < |v_i| or level <= |v_i|, u = (word_i >> 8) * 2^-24, unless it is
/// 0.
std::size_t keep_large(std::span<const float> v, const std::uint32_t* words, float level, std::uint32_t first,
                       kept_end to) noexcept;

// The bits of a float without its sign, called its key here, order as the magnitudes do.

/// Keeps the places of elements whose key is at least this one.
std::size_t keep_at_least(std::span<const float> v, std::uint32_t least, std::uint32_t* places) noexcept;

/// Finds the largest keys of groups of elements: v_i belongs to group i mod maxima.size(). 0 where a group is empty.
void find_maxima(std::span<const float> v, std::span<std::uint32_t> maxima) noexcept;

/// Returns a bound that `least` to `most` of the keys reach; where equal keys make this impossible, the largest that at
/// least so many reach. O(keys) for each bit of the range they span. Requires least <= keys.size(), most >= least.
std::uint32_t cut(std::span<const std::uint32_t> keys, std::size_t least, std::size_t most) noexcept;

/// Keys that are sorted without branches, which guess wrong, in O(keys^2); more are in O(keys log keys).
inline constexpr std::size_t most_ranked = 128;
void sort_descending(std::span<const std::uint32_t> keys, std::uint32_t* descending) noexcept;

/// What a level parts: the sum of the magnitudes up to it, and the number of those above it, in eight partial sums of
/// the elements with equal i mod 8 in ascending order, which are then added in their order.
struct parted {
  double below = 0, above = 0;
};
parted part_magnitudes(std::span<const float> v, double level) noexcept;

} // namespace gossamer::compress::detail
