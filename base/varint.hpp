#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gossamer {

/// Integers as LEB128, in as few bytes as they need: seven bits a byte, the least significant first; the high bit of a
/// byte says that more follow. 1 byte below 2^7, 2 below 2^14, 3 below 2^21, at most 10.
constexpr std::size_t varint_bytes(std::uint64_t n) noexcept {
  return (static_cast<std::size_t>(std::bit_width(n | 1)) + 6) / 7;
}

/// Writes `varint_bytes(n)` bytes. @returns the place behind them
constexpr std::byte* put_varint(std::byte* to, std::uint64_t n) noexcept {
  for (; n >= 0x80; n >>= 7)
    *to++ = static_cast<std::byte>(n | 0x80);
  *to++ = static_cast<std::byte>(n);
  return to;
}

/// Takes an integer off the front of `bytes`.
/// @returns `nullopt` when it is cut short, has more than 64 bits, or is not in its shortest form
constexpr std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes) noexcept {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto digit = std::to_integer<std::uint64_t>(bytes[i]);
    n |= (digit & 0x7f) << (7 * i);
    if (digit >= 0x80)
      continue;
    if (varint_bytes(n) != i + 1 || (i == 9 && digit > 1))
      return std::nullopt;
    bytes = bytes.subspan(i + 1);
    return n;
  }
  return std::nullopt;
}

} // namespace gossamer
