#pragma once

#include "gossamer/compress/detail/level_kernels.hpp"
#include "gossamer/compress/packet.hpp"

// The levels of the codec `uniform`, evenly spaced from -max |v_i| to max |v_i|, for all who round to them.
namespace gossamer::compress::detail {

inline constexpr std::uint64_t uniform_scale_bits = 32;

/// Distance of two levels when `norm` is the largest magnitude; 0 when all elements are to be sent as zero.
float uniform_scale(float norm, int bits);

/// Requires a scale that is not 0.
level_grid uniform_grid(float delta, int bits);

/// The scale at the beginning of a payload.
/// @error errc::bad_packet unless it is one that `uniform_scale` makes
float read_uniform_scale(const packet& p);

/// @error errc::bad_packet when values that were decoded with this scale overflowed
void expect_finite_levels(const packet& p, float delta, int bits, std::span<const float> values);

} // namespace gossamer::compress::detail
