#pragma once

#include <span>

namespace gossamer {

/// Writes y = a - b, with SIMD chosen at run time. All have equal sizes.
/// @returns max |y_i|; 0 when empty; NaN when any y_i is NaN
float assign_difference(std::span<float> y, std::span<const float> a, std::span<const float> b) noexcept;

} // namespace gossamer
