#pragma once

#include "gossamer/compress/bit_stream.hpp"

#include <array>
#include <bit>

/// Prefix codes of the integers n = 1, 2, ..., 2^64 - 1: short for small ones, without a bound that both sides must
/// know.
///
/// Let N = floor(log2 n). Wherever a code holds n itself, it sends its leading one and then the N bits below it as a
/// number in the order of docs/wire-format.md, the least significant bit first. So the codes have the lengths of the
/// literature, and its bits but for that order.
///   gamma: N zeros, then n.
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

namespace detail {

constexpr std::uint64_t below_leading_one(std::uint64_t n) noexcept { return n ^ std::uint64_t{1} << log2_of(n); }

/// The code of a small number: nearly all numbers are small, and a table is faster than the loop that makes the code.
struct short_code {
  std::uint16_t bits, length;
};
inline constexpr std::uint64_t small = 256;

constexpr short_code gamma_of(std::uint64_t n) noexcept {
  return {static_cast<std::uint16_t>((1 | below_leading_one(n) << 1) << log2_of(n)),
          static_cast<std::uint16_t>(gamma_bits(n))};
}

/// w(n).
constexpr short_code groups_of(std::uint64_t n) noexcept {
  if (n == 1)
    return {0, 0};
  const auto before = groups_of(static_cast<std::uint64_t>(log2_of(n)));
  return {static_cast<std::uint16_t>(before.bits | (1 | below_leading_one(n) << 1) << before.length),
          static_cast<std::uint16_t>(before.length + log2_of(n) + 1)};
}

constexpr short_code omega_of(std::uint64_t n) noexcept {
  const auto groups = groups_of(n);
  return {groups.bits, static_cast<std::uint16_t>(groups.length + 1)};
}

template <short_code (*code_of)(std::uint64_t) noexcept>
inline constexpr auto short_codes = [] {
  std::array<short_code, small> codes{};
  for (std::uint64_t n = 1; n < small; ++n)
    codes[n] = code_of(n);
  return codes;
}();

/// The number whose omega code begins with the bits of the index, and the length of its code; 0, if it is longer.
struct beginning {
  std::uint8_t number, length;
};
inline constexpr int beginning_bits = 12;
inline constexpr auto omega_beginnings = [] {
  std::array<beginning, std::size_t{1} << beginning_bits> table{};
  for (std::uint64_t n = 1; n < small; ++n)
    if (const auto code = omega_of(n); code.length <= beginning_bits)
      for (std::size_t i = code.bits; i < table.size(); i += std::size_t{1} << code.length)
        table[i] = {static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(code.length)};
  return table;
}();

// Numbers of any size.
std::uint64_t read_gamma(bit_reader& in);
std::uint64_t read_omega(bit_reader& in);

/// Lends a copy to a function that is not inline, so that the reader itself stays in registers.
inline std::uint64_t take_long(bit_reader& in, std::uint64_t (*read)(bit_reader&)) {
  auto copy = in;
  const auto n = read(copy);
  in = copy;
  return n;
}

} // namespace detail

constexpr int omega_bits(std::uint64_t n) noexcept {
  int bits = 0;
  for (; n >= detail::small; n = static_cast<std::uint64_t>(log2_of(n)))
    bits += log2_of(n) + 1;
  return bits + detail::short_codes<detail::omega_of>[n].length;
}

inline void put_gamma(bit_writer& out, std::uint64_t n) noexcept {
  if (n < detail::small) {
    const auto [bits, length] = detail::short_codes<detail::gamma_of>[n];
    return out.put(bits, length);
  }
  out.put(std::uint64_t{1} << log2_of(n), log2_of(n) + 1);
  out.put(detail::below_leading_one(n), log2_of(n));
}

template <class Writer>
void put_omega(Writer& out, std::uint64_t n) noexcept {
  if (n < detail::small) {
    const auto [bits, length] = detail::short_codes<detail::omega_of>[n];
    return out.put(bits, length);
  }
  const auto [bits, length] = detail::short_codes<detail::omega_of>[static_cast<std::uint64_t>(log2_of(n))];
  out.put(bits, length - 1);
  out.put(1 | detail::below_leading_one(n) << 1, log2_of(n) + 1);
  out.put(0, 1);
}

inline std::uint64_t take_gamma(bit_reader& in) {
  const auto next = in.peek();
  const int zeros = std::countr_zero(next);
  if (zeros >= 32)
    return detail::take_long(in, detail::read_gamma);
  in.skip(2 * zeros + 1);
  return low_bits(next >> (zeros + 1), zeros) | std::uint64_t{1} << zeros;
}

inline std::uint64_t take_omega(bit_reader& in) {
  const auto [number, length] = detail::omega_beginnings[low_bits(in.peek(), detail::beginning_bits)];
  if (length == 0)
    return detail::take_long(in, detail::read_omega);
  in.skip(length);
  return number;
}

} // namespace gossamer::compress::elias
