#pragma once

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gossamer::compress {

/// The lowest `width` bits of x. Requires a width of 0 to 63.
constexpr std::uint64_t low_bits(std::uint64_t x, int width) noexcept { return x & ((std::uint64_t{1} << width) - 1); }

/// Writes numbers of any width one after the other, in the order of bits of docs/wire-format.md: the least significant
/// bit first. Bytes are written eight at a time; `finish` writes the last ones. O(1) a number.
class bit_writer {
public:
  /// @param out room for all bits; the caller knows their number beforehand
  explicit bit_writer(std::span<std::byte> out) noexcept : out_(out) {}

  /// @param value less than 2^width
  /// @param width 0 to 64
  void put(std::uint64_t value, int width) noexcept {
    pending_ |= value << count_;
    count_ += width;
    if (count_ < 64)
      return;
    store(sizeof pending_);
    count_ -= 64;
    pending_ = count_ == 0 ? 0 : value >> (width - count_);
  }

  /// Fills the last byte with zero bits. Nothing may be put behind it.
  void finish() noexcept {
    store(static_cast<std::size_t>(count_ + 7) / 8);
    pending_ = 0;
    count_ = 0;
  }

private:
  void store(std::size_t bytes) noexcept {
    GOSSAMER_ASSERT(bytes <= out_.size(), "a bit stream is as long as its writer said");
    std::memcpy(out_.data(), &pending_, bytes);
    out_ = out_.subspan(bytes);
  }

  std::span<std::byte> out_;
  std::uint64_t pending_ = 0; // the bits that are not stored yet, fewer than 64
  int count_ = 0;             // number of pending bits
};

/// Writes the bits of a `bit_writer` faster, without a branch, but at most 56 at once, and needs room for 8 more bytes
/// behind them.
class roomy_bit_writer {
public:
  explicit roomy_bit_writer(std::byte* out) noexcept : begin_(out), to_(out) {}

  /// @param value less than 2^width
  /// @param width 0 to 56
  void put(std::uint64_t value, int width) noexcept {
    pending_ |= value << count_;
    std::memcpy(to_, &pending_, sizeof pending_);
    count_ += static_cast<unsigned>(width);
    to_ += count_ / 8;
    pending_ >>= count_ & ~7u;
    count_ &= 7;
  }

  /// Bits that were put.
  std::uint64_t size() const noexcept { return 8 * static_cast<std::uint64_t>(to_ - begin_) + count_; }

private:
  std::byte* begin_;
  std::byte* to_;             // begins with the pending bits
  std::uint64_t pending_ = 0; // the bits of a byte that is not full
  unsigned count_ = 0;        // number of pending bits
};

/// Reads the bits of a `bit_writer`. The bits are not trusted: nothing is read behind their end.
class bit_reader {
public:
  /// @param bits number of bits; at most 8 * in.size()
  bit_reader(std::span<const std::byte> in, std::uint64_t bits) noexcept : in_(in), end_(bits) {
    GOSSAMER_ASSERT(bits / 8 + (bits % 8 != 0) <= in.size(), "bits lie within their bytes");
  }

  std::uint64_t left() const noexcept { return end_ - position_; }

  /// Returns the next 64 bits behind those that are `ahead`. Those behind the end mean nothing: only `skip` tells
  /// whether there are so many.
  std::uint64_t peek(std::uint64_t ahead = 0) const noexcept {
    const auto first = static_cast<std::size_t>((position_ + ahead) / 8);
    const int shift = static_cast<int>((position_ + ahead) % 8);
    std::uint64_t low = 0, high = 0;
    if (first + 9 <= in_.size()) {
      std::memcpy(&low, in_.data() + first, 8);
      std::memcpy(&high, in_.data() + first + 8, 1);
    } else if (first < in_.size()) {
      const auto rest = in_.subspan(first);
      std::memcpy(&low, rest.data(), std::min<std::size_t>(8, rest.size()));
    }
    return low >> shift | high << 1 << (63 - shift);
  }

  /// @error errc::bad_packet when fewer bits are left
  void skip(int width) {
    if (static_cast<std::uint64_t>(width) > left())
      refuse_end();
    position_ += static_cast<std::uint64_t>(width);
  }

  /// @param width 0 to 64
  /// @error errc::bad_packet when fewer bits are left
  std::uint64_t take(int width) {
    const auto next = peek();
    skip(width);
    return width == 64 ? next : low_bits(next, width);
  }

  /// Skips zeros and the one behind them. @returns how many zeros
  /// @error errc::bad_packet unless a one follows after at most 63 zeros
  int take_zeros();

private:
  [[noreturn]] static void refuse_end();

  std::span<const std::byte> in_;
  std::uint64_t end_;
  std::uint64_t position_ = 0;
};

} // namespace gossamer::compress
