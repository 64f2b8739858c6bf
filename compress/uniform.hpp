#pragma once

#include <span>

namespace gossamer::compress {

/// The most bits that the codec `uniform` spends on an element.
inline constexpr int uniform_most_bits = 16;

/// E |C(v) - v|^2 of the codec uniform:bits=b for this very v: delta^2 sum r_i (1 - r_i), r_i = frac(v_i / delta),
/// added up in double precision and in order. O(size).
/// @param bits 2 to `uniform_most_bits`
double uniform_expected_error(std::span<const float> v, int bits);

} // namespace gossamer::compress
