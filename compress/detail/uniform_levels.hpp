#pragma once

#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/packet.hpp"

// The levels of the codec `uniform`, evenly spaced from -max |v_i| to max |v_i|, for all codecs that round to them.
namespace gossamer::compress::detail {

inline constexpr std::uint64_t uniform_scale_bits = 32;

/// Reads the scale at the beginning of a payload.
/// @error errc::bad_packet unless it is one that `uniform_scale` makes
float read_uniform_scale(const packet& p);

/// @error errc::bad_packet when values that were decoded with this scale overflowed
void expect_finite_levels(const packet& p, float delta, int bits, std::span<const float> values);

} // namespace gossamer::compress::detail
