#pragma once

#include "gossamer/compress/bit_stream.hpp"

#include <bit>

/// Prefix codes of the integers n = 1, 2, ..., 2^64 - 1: short for small ones, without a bound that both sides must
/// know.
///
/// Let N = floor(log2 n). Wherever a code holds n itself, it sends its leading one and then the N bits below it as a
/// number in the order of docs/wire-format.md, the least significant bit first. So the codes have the lengths of the
/// literature, and its bits but for that order.
///   gamma: N zeros, then n.
///   delta: gamma of N + 1, then the N bits below the leading one.
///   omega: w(n), then a zero, where w(1) is nothing and w(n) is w(N), then n.
/// Every integer has one code, and no code begins another. Readers refuse numbers of more than 64 bits and streams that
/// end too early (errc::bad_packet). Cost: O(1) a number.
///
/// Source: Elias, "Universal codeword sets and representations of the integers", IEEE Trans. Information Theory 21,
/// 1975.
namespace gossamer::compress::elias {

/// floor(log2 n). Requires n > 0, like all functions here.
constexpr int log2_of(std::uint64_t n) noexcept { return 63 - std::countl_zero(n); }

/// Lengths in bits.
constexpr int gamma_bits(std::uint64_t n) noexcept { return 2 * log2_of(n) + 1; }
constexpr int delta_bits(std::uint64_t n) noexcept {
  return gamma_bits(static_cast<std::uint64_t>(log2_of(n) + 1)) + log2_of(n);
}
constexpr int omega_bits(std::uint64_t n) noexcept {
  int bits = 1;
  for (; n > 1; n = static_cast<std::uint64_t>(log2_of(n)))
    bits += log2_of(n) + 1;
  return bits;
}

void put_gamma(bit_writer& out, std::uint64_t n) noexcept;
void put_delta(bit_writer& out, std::uint64_t n) noexcept;
void put_omega(bit_writer& out, std::uint64_t n) noexcept;

std::uint64_t take_gamma(bit_reader& in);
std::uint64_t take_delta(bit_reader& in);
std::uint64_t take_omega(bit_reader& in);

} // namespace gossamer::compress::elias
