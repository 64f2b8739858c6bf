#pragma once

#include "gossamer/base/buffer.hpp"
#include "gossamer/compress/packet.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer::compress {

/// Form of the sums of k signs in a packet. They have k + 1 values.
enum class sign_sum_code : std::uint8_t {
  fixed,  ///< `sign_sum_width(k)` bits an element
  elias,  ///< Elias' gamma code of the distance from the middle: short where the workers disagree
  shorter ///< the form that is expected to be shorter for fair signs: elias for k = 4, 5, 6 and from 8 on
};

/// max(1, ceil(log2(k + 1))). Requires k > 0.
int sign_sum_width(std::uint32_t k) noexcept;

/// Codec number of packets that hold sums of signs.
inline constexpr std::uint8_t sign_sums_wire_number = 16;

/// Sums of the signs of k workers, element by element: in -k, -k + 2, ..., k, kept as the number c of +1 in bits: sum =
/// 2 c - k.
///
/// The counters are bit-sliced: 64 elements share `width` words, of which word j holds bit j of each count. So signs
/// are added 64 at a time with a few bit operations a word, and the majority is a comparison of words. Memory from a
/// pool: width / 8 bytes an element.
/// Threads: as for a value.
class sign_sums {
public:
  static constexpr std::uint32_t most_contributors = 32767;

  /// Takes the signs of one worker (compress/sign_bits.hpp), which are its sums.
  sign_sums(buffer_pool& pool, std::span<const std::uint64_t> signs, std::size_t elements);
  /// Begins with sums of -k, to be replaced part by part. @param contributors k
  sign_sums(buffer_pool pool, std::size_t elements, std::uint32_t contributors);

  std::size_t size() const noexcept { return size_; }
  std::uint32_t contributors() const noexcept { return contributors_; }

  /// Adds the workers of `other`, none of which this object counts yet. Requires equal sizes and at most
  /// `most_contributors` in the end.
  sign_sums& operator+=(const sign_sums& other);

  /// Returns the sums of elements begin, begin + 1, ... Requires a multiple of 64 as `begin`.
  sign_sums slice(std::size_t begin, std::size_t size) const;
  /// Replaces elements begin, begin + 1, ... by those of `part`. Requires a multiple of 64 as `begin`, equal
  /// contributors, and that the part ends where this ends or at a multiple of 64.
  void replace(std::size_t begin, const sign_sums& part) noexcept;

  /// Number of +1 among the signs of element i. O(width).
  std::uint32_t positive(std::size_t i) const noexcept;
  /// values_i = factor * sum_i, rounded once.
  void to_values(float factor, std::span<float> values) const noexcept;
  /// Sets bit i where sum_i >= 0: a tie is a +1. @param signs `sign_words(size())` words
  void majority(std::span<std::uint64_t> signs) const noexcept;

  /// Returns the sums as a packet; docs/wire-format.md, number 16. With `fixed` it has `sign_sum_width(k) * size()`
  /// bits.
  packet encode(sign_sum_code code) const;
  /// Reads a packet that `encode` made.
  /// @param elements, contributors the numbers that the receiver expects
  /// @error errc::bad_packet when the packet is of another kind, size or weight, or holds a sum that k signs cannot
  ///        have
  static sign_sums decode(const packet& p, std::size_t elements, std::uint32_t contributors);

private:
  std::size_t groups() const noexcept;
  std::size_t in_group(std::size_t g) const noexcept;
  std::uint64_t* group(std::size_t g) noexcept;
  const std::uint64_t* group(std::size_t g) const noexcept;
  template <class Action>
  void for_each_count(Action action) const;
  std::uint64_t elias_bits() const noexcept;
  void read_fixed(const packet& p);
  void read_elias(const packet& p);

  std::size_t size_;
  std::uint32_t contributors_;
  std::size_t width_;
  buffer words_; // width_ words for each group of 64 elements
};

} // namespace gossamer::compress
