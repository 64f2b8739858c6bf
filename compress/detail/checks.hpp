#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compress/packet.hpp"

#include <span>
#include <string>

namespace gossamer::compress::detail {

/// max |v_i|. Every encoder computes it, or at least needs it to be finite. O(size).
/// @error errc::diverged when an element is NaN or infinite; names the first
float finite_max_magnitude(std::span<const float> v);

/// Returns an errc::bad_packet with the remedy that all packet errors share.
error bad_packet(std::string sentence);

/// @error errc::bad_packet unless the packet is for a vector of this size
void expect_elements(const packet& p, std::uint64_t elements);
/// @error errc::bad_packet unless the packet carries as many bits as its codec would have written
void expect_bits(const packet& p, std::uint64_t bits);
/// @error errc::bad_packet unless the recipe has so many words
void expect_recipe(const packet& p, std::size_t words);

} // namespace gossamer::compress::detail
