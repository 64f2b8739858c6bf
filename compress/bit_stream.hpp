#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer::compress {

/// Writes numbers of any width one after the other, in the order of bits of docs/wire-format.md: the least significant
/// bit first. A byte is written when it is complete; `finish` writes the last one. O(1) a number.
class bit_writer {
public:
  /// @param out room for all bits; the caller knows their number beforehand
  explicit bit_writer(std::span<std::byte> out) noexcept : out_(out) {}

  /// @param value less than 2^width
  /// @param width 0 to 64
  void put(std::uint64_t value, int width) noexcept;
  /// Fills the last byte with zero bits. Nothing may be put behind it.
  void finish() noexcept;

private:
  void store(std::size_t bytes) noexcept;

  std::span<std::byte> out_;
  std::uint64_t pending_ = 0; // the bits that are not stored yet, fewer than 64
  int count_ = 0;             // number of pending bits
};

/// Reads the bits of a `bit_writer`. The bits are not trusted: nothing is read behind their end.
class bit_reader {
public:
  /// @param bits number of bits; at most 8 * in.size()
  bit_reader(std::span<const std::byte> in, std::uint64_t bits) noexcept;

  std::uint64_t left() const noexcept { return end_ - position_; }
  /// @param width 0 to 64
  /// @error errc::bad_packet when fewer bits are left
  std::uint64_t take(int width);
  /// Skips zeros and the one behind them. @returns how many zeros
  /// @error errc::bad_packet unless a one follows after at most 63 zeros
  int take_zeros();

private:
  std::uint64_t peek() const noexcept; // the next 64 bits, zeros behind the end
  void skip(int width);

  std::span<const std::byte> in_;
  std::uint64_t end_;
  std::uint64_t position_ = 0;
};

} // namespace gossamer::compress
