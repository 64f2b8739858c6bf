#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/compress/packet.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// Signs in one bit an element: bit i mod 64 of word i / 64 is 1 where element i is >= 0 (-0 included), and the unused
// high bits of the last word are 0. Words are plain memory, so that collectives can merge and add without decoding. All
// functions are O(size) and use SIMD chosen at run time unless said otherwise. Threads: safe (no state).
namespace gossamer::compress {

/// ceil(elements / 64), without overflow.
constexpr std::size_t sign_words(std::size_t elements) noexcept { return elements / 64 + (elements % 64 != 0); }

/// @param words `sign_words(v.size())` of them
/// @error errc::diverged when v holds NaN or infinity; names the first
void pack_signs(std::span<const float> v, std::span<std::uint64_t> words);

/// values_i += magnitude where the bit is 1, else values_i -= magnitude.
void add_signs(std::span<const std::uint64_t> words, float magnitude, std::span<float> values) noexcept;

/// The random half of Marsit's one-bit merge of a received bit v that stands for `a` workers with a local bit w that
/// stands for `b`: r = 1 with probability a / (a + b) where w = 0, and b / (a + b) where w = 1. It does not depend on
/// v, so it can be drawn before v arrives.
///
/// r_i = w_i XOR [u_i < floor(2^32 a / (a + b))]: the second operand, which is 1 where the received side wins, has one
/// probability whatever w_i is, less than 2^-32 below a / (a + b). compress/detail/bernoulli.hpp has the digits of u_i;
/// they belong to (step, first + i), so a part that is drawn alone has the bits that it has in the whole. Two merges of
/// one element need different streams, steps or numbers. About 0.4 CPU cycles an element with AVX-512, and an eighth of
/// that for a = b, most of it for the random words.
/// @param a, b  at least 1
/// @param first a multiple of 64
/// @param out as many words as `local`; may be `local` itself
void draw_transient(std::span<const std::uint64_t> local, std::uint32_t a, std::uint32_t b, std::size_t elements,
                    const random_stream& random, std::uint64_t step, std::uint64_t first,
                    std::span<std::uint64_t> out) noexcept;

/// Marsit's merge (v AND w) OR ((v XOR w) AND r): keeps the bit on which both sides agree, and otherwise takes that of
/// the received side with probability a / (a + b). By induction the last bit of a chain of merges is the sign of a
/// worker that is drawn uniformly, element by element, so its mean is the mean of the signs.
///
/// Reference: Wu, He, Guo, Qu, Wang, Zhuang, Zhang, "Sign bit is enough: a learning synchronization framework for
/// multi-hop all-reduce with ultimate compression", 2022, Algorithm 1.
/// @param out may be any of the operands; all have equal sizes
void merge_signs(std::span<const std::uint64_t> received, std::span<const std::uint64_t> local,
                 std::span<const std::uint64_t> transient, std::span<std::uint64_t> out) noexcept;

/// Codec number of packets that hold only signs.
inline constexpr std::uint8_t sign_wire_number = 13;

/// Returns the packet of codec `sign` with these bits; one copy.
packet sign_packet(buffer_pool& pool, std::span<const std::uint64_t> words, std::size_t elements);

/// Reads the bits of a packet of codec `sign`; one copy.
/// @param elements number that the receiver expects; `words` are `sign_words(elements)`
/// @error errc::bad_packet when the packet is of another codec or size
void read_signs(const packet& p, std::size_t elements, std::span<std::uint64_t> words);

} // namespace gossamer::compress
