#pragma once

#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/packet.hpp"

#include <span>

// The least and the greatest element of a vector or of a part of it, as codecs send them: two 32-bit floats.
namespace gossamer::compress::detail {

inline constexpr std::uint64_t range_bits = 64;

/// Returns the range of v, which is not empty.
/// @param whole the vector that v is a part of, for the message
/// @error errc::diverged when an element of v is NaN or infinite; names the first
value_range finite_range_of(std::span<const float> v, std::span<const float> whole);

void write_range(const value_range& range, std::byte* out) noexcept;
/// @error errc::bad_packet unless both ends are finite, in order, and written in one way (no negative zero)
value_range read_range(const std::byte* in);

/// The smallest known c with |C(v) - v|^2 <= c |v|^2 on average, where C(v) is rounded to levels at most
/// `gap` (high - low) apart of which the ends are exact: (high - low)^2 <= 2 |v|^2, and at least two elements are ends.
double range_relative_error(std::size_t elements, double gap) noexcept;

} // namespace gossamer::compress::detail
