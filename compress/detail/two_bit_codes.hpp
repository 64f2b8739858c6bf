#pragma once

#include <array>
#include <cstdint>
#include <span>

// Codes of two bits for values that share four levels. Sums are of doubles in the order of the values: the same codes
// and levels on every machine.
namespace gossamer::compress::detail {

/// The values that codes stand for.
using four_levels = std::array<float, 4>;

/// Sign and one of two magnitudes: the means of those below some T, and of those from T on. T loses least of all.
/// Cost: O(n log n) for n values.
/// @param codes one for each value: bit 0 is set from T on, bit 1 of what is less than 0
/// @returns the lower and the upper magnitude, and their negatives; 0 where none is below
four_levels symmetric_codes(std::span<const float> values, std::span<std::uint8_t> codes);

/// Four equal parts of the six deviations around the mean, of which the outer two have all that lies beyond: with the
/// unbiased deviation s of n > 1 values, code min(3, max(0, round(2 + (v - mean) / (1.5 s)))), to even in the middle.
/// O(n).
/// @returns the mean of the values with each code; 0 where there are none
four_levels statistical_codes(std::span<const float> values, std::span<std::uint8_t> codes);

} // namespace gossamer::compress::detail
