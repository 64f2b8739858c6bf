#pragma once

#include "gossamer/compress/detail/level_form.hpp"

// Levels k / s of a norm, k = -s .. s, as QSGD and TernGrad have them; the norm is sent as a 32-bit float.
namespace gossamer::compress::detail {

inline constexpr std::uint64_t norm_bits = 32;

/// @error errc::bad_packet unless the norm is +0 or finite, positive and `sendable`
float read_norm(const std::byte* in, int levels);

} // namespace gossamer::compress::detail
