#pragma once

#include "gossamer/compress/detail/level_kernels.hpp"

#include <vector>

namespace gossamer::compress::detail {

/// Levels at any distances from each other. An element is rounded to the level below it, or up to the next when u <
/// (v - below) / (next - below), u = (word >> 8) * 2^-24. All is computed with halves, so that nothing overflows.
struct uneven_levels {
  /// @param ascending at least one value; elements are not below the first or above the last
  explicit uneven_levels(std::vector<float> ascending);

  std::vector<float> values;
  std::vector<float> halves; ///< of the values
  std::vector<float> gaps;   ///< between the halves of a value and the next; at the last one 1
};

/// Rounds elements at random to numbers of levels, in a byte each. Every operation is rounded to a 32-bit float.
/// @param words one random word for each element
void round_to_levels(const uneven_levels& levels, std::span<const float> v, const std::uint32_t* words,
                     level_codes& codes) noexcept;

} // namespace gossamer::compress::detail
