#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compress/packet.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// The inner loops behind signs, one bit an element: bit i mod 8 of byte i / 8 belongs to element i. `bits` points to
// ceil(size / 8) bytes without any alignment; the unused high bits of the last byte are 0.
namespace gossamer::compress::detail {

/// Sets bit i where v_i >= 0.
/// @returns whether all elements are finite; the bits mean nothing otherwise
bool pack_sign_bits(std::span<const float> v, std::byte* bits) noexcept;

/// v_i = magnitude where the bit is 1, else -magnitude.
void unpack_sign_bits(const std::byte* bits, float magnitude, std::span<float> v) noexcept;

/// v_i += magnitude where the bit is 1, else v_i -= magnitude.
void add_sign_bits(const std::byte* bits, float magnitude, std::span<float> v) noexcept;

/// Elements whose values are spread at once: they stay in the first-level cache, and their signs are whole bytes.
inline constexpr std::size_t sign_block = 2048;

/// A value for each element of a block, with room behind them for whole registers.
struct element_values {
  alignas(64) float of[sign_block + 64];
};

/// Gives elements first .. first + count - 1 of a vector the values of their rows: to.of[i] = values[(first + i) /
/// row].
/// @param count at most `sign_block`
void spread_rows(const float* values, std::uint64_t row, std::size_t first, std::size_t count,
                 element_values& to) noexcept;

/// Sets bit i where u < 1/2 + 1/2 (v_i / norm_i), u = (random_i >> 8) * 2^-24; a norm of 0 counts as 1. Each operation
/// is rounded to a 32-bit float.
/// @param v at most `sign_block` elements
void draw_sign_bits(std::span<const float> v, const element_values& norms, const std::uint32_t* random,
                    std::byte* bits) noexcept;

/// A packet of signs whose sizes and magnitudes have been checked.
struct signed_packet {
  const std::byte* bits;   ///< null when all elements are 0
  const float* magnitudes; ///< one for each row of elements; null when all are 1
  std::uint64_t row;       ///< elements that share a magnitude, at least 1

  vec values(buffer_pool pool, std::uint64_t elements) const;
  /// Writes the elements from `first` on, a multiple of 8.
  void values(std::size_t first, std::span<float> to) const noexcept;
};

// @error errc::bad_packet when sizes or magnitudes are not those of the codec
signed_packet read_sign(const packet& p);
signed_packet read_scaled_sign(const packet& p);
signed_packet read_ssdm(const packet& p);

/// (v AND w) OR ((v XOR w) AND r), word by word; `out` may be any of the operands.
void merge_words(const std::uint64_t* v, const std::uint64_t* w, const std::uint64_t* r, std::size_t words,
                 std::uint64_t* out) noexcept;

} // namespace gossamer::compress::detail
