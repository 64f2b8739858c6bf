#pragma once

#include "gossamer/compress/detail/places.hpp"

// Packets of codecs that send some elements only: their values, and behind them their places unless the receiver can
// draw these again.
namespace gossamer::compress::detail {

/// Values of `packet.parameter` for codecs that offer both.
inline constexpr std::uint8_t places_sent = 0, places_redrawn = 1;

/// `scale`: whether kept elements are divided by the probability of being kept, so that the mean is right.
parameter scale_parameter(std::string_view factor);
/// `indices`: whether places are sent or drawn again.
parameter indices_parameter();

/// Bits of one place: ceil(log2 elements).
int place_bits(std::uint64_t elements) noexcept;

/// x = factor * x, or the nearest finite float.
void scale_finite(std::span<float> values, float factor) noexcept;

/// Returns the packet of factor * v_i, or the nearest finite float, at the places that are kept.
packet values_with_places(std::uint8_t codec, const vec& v, const places& kept, float factor);
/// Returns the packet of these values.
packet values_with_places(std::uint8_t codec, std::uint64_t elements, const places& kept,
                          std::span<const float> values);

/// Returns the packet of factor * v_i without places, which the receiver draws again.
packet values_without_places(std::uint8_t codec, const vec& v, const places& kept, float factor,
                             std::vector<std::uint64_t> recipe);

/// @error errc::bad_packet when the packet is damaged
vec decode_with_places(const packet& p);
/// @param kept the places that the recipe gives
/// @error errc::bad_packet when the number of values is not theirs
vec decode_without_places(const packet& p, const places& kept);

// Pieces of these functions, for values in another form.

/// Returns the number of values of a packet, when each takes so many bits of the payload behind the first `fixed` ones.
/// @error errc::bad_packet when the sizes contradict each other, or there are more values than elements
std::size_t read_count(const packet& p, std::uint64_t fixed, int bits_each);

/// Writes places behind the first bits of a payload, which must have been written.
void write_places(packet& p, std::uint64_t first_bit, const places& kept);
/// Requires a payload whose size has been checked.
/// @error errc::bad_packet unless they ascend strictly and are places of the vector
places read_places(const packet& p, std::uint64_t first_bit, std::size_t count);

/// Returns a vector of these values at their places, and zeros elsewhere.
vec scatter(buffer_pool pool, std::uint64_t elements, const places& kept, std::span<const float> values);

} // namespace gossamer::compress::detail
