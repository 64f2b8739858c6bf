#pragma once

#include "gossamer/base/host_device.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compress/detail/level_kernels.hpp"
#include "gossamer/compress/packet.hpp"

#include <bit>

// The levels that follow from the numbers at the start of a payload: one source for all machines and for GPUs.
namespace gossamer::compress::detail {

inline constexpr float smallest_normal = std::numeric_limits<float>::min();
inline constexpr float largest_float = std::numeric_limits<float>::max();

/// Last level of `uniform` on either side of zero. With one bit there are two levels, and the unit is half their
/// distance.
GOSSAMER_HD constexpr float uniform_top(int bits) noexcept {
  return static_cast<float>(bits == 1 ? 1 : (1 << (bits - 1)) - 1);
}

/// Distance of two levels when `norm` is the largest magnitude; 0 when all elements are to be sent as zero, because 1 /
/// delta could overflow and products would lose precision.
GOSSAMER_HD constexpr float uniform_scale(float norm, int bits) noexcept {
  const float top = uniform_top(bits);
  const float delta = norm / top;
  if (delta < smallest_normal)
    return 0;
  return delta * top <= largest_float ? delta : std::bit_cast<float>(std::bit_cast<std::uint32_t>(delta) - 1);
}

/// Requires a scale that is not 0.
GOSSAMER_HD constexpr level_grid uniform_grid(float delta, int bits) noexcept {
  if (bits == 1) // clamped because twice delta may be infinite
    return {.step = 2 * delta,
            .inverse = 0.5f / delta,
            .bottom = -1,
            .top = 0,
            .offset = -0.5f,
            .low = -delta,
            .high = delta};
  return {.step = delta, .inverse = 1 / delta, .bottom = -uniform_top(bits), .top = uniform_top(bits)};
}

/// The norm of levels k / s of it, k = -s .. s, as QSGD and TernGrad have them; 0 when the levels are too near to each
/// other for floats.
GOSSAMER_HD constexpr float sendable_norm(float norm, int levels) noexcept {
  return norm / static_cast<float>(levels) < smallest_normal ? 0 : norm;
}

/// Levels of a norm that is `sendable`.
GOSSAMER_HD constexpr level_grid norm_grid(float norm, int levels) noexcept {
  if (norm == 0)
    return {};
  const auto top = static_cast<float>(levels);
  const float step = norm / top;
  return {.step = step, .inverse = 1 / step, .bottom = -top, .top = top, .low = -norm, .high = norm};
}

/// Half of a range, which overflows for no floats, and its middle.
GOSSAMER_HD constexpr float half_of(const value_range& range) noexcept { return range.high * 0.5f - range.low * 0.5f; }
GOSSAMER_HD constexpr float middle_of(const value_range& range) noexcept { return range.low + half_of(range); }

GOSSAMER_HD constexpr float range_top(int bits) noexcept { return static_cast<float>((1 << bits) - 1); }
GOSSAMER_HD constexpr float range_step(const value_range& range, int bits) noexcept {
  return half_of(range) / (0.5f * range_top(bits));
}

/// Reduces a range to its lower end when its levels are too near to each other for floats.
GOSSAMER_HD constexpr value_range sendable_range(const value_range& range, int bits) noexcept {
  return range_step(range, bits) < smallest_normal ? value_range{range.low, range.low} : range;
}

/// Levels of a range that is `sendable`.
GOSSAMER_HD constexpr level_grid range_grid(const value_range& range, int bits) noexcept {
  level_grid grid{.top = range_top(bits),
                  .offset = 0.5f * range_top(bits),
                  .low = range.low,
                  .high = range.high,
                  .exact_ends = true,
                  .middle = middle_of(range)};
  if (range.low < range.high) {
    grid.step = range_step(range, bits);
    grid.inverse = grid.offset / half_of(range);
  }
  return grid;
}

/// How the elements of a vector are written as levels. The payload begins with the numbers of each row of elements, row
/// by row; codes follow.
struct level_form {
  enum class numbers : std::uint8_t { uniform_scale, norm, range };

  numbers kind;
  int bits;          ///< width of a code, 1 to 16
  std::uint64_t row; ///< elements that share their numbers; the last row may be shorter. At least 1
  int levels = 0;    ///< s, for levels of a norm

  GOSSAMER_HD constexpr std::uint64_t rows(std::uint64_t elements) const noexcept {
    return elements / row + (elements % row != 0);
  }
  /// Number of 32-bit floats a row.
  GOSSAMER_HD constexpr std::uint64_t floats() const noexcept { return kind == numbers::range ? 2 : 1; }

  /// @param row_numbers as `encode` sends them: checked when they come from a peer
  GOSSAMER_HD constexpr level_grid grid(const float* row_numbers) const noexcept {
    if (kind == numbers::range)
      return range_grid({row_numbers[0], row_numbers[1]}, bits);
    if (kind == numbers::norm)
      return norm_grid(row_numbers[0], levels);
    return row_numbers[0] == 0 ? level_grid{} : uniform_grid(row_numbers[0], bits);
  }
};

/// A packet of levels whose sizes and numbers have been checked.
struct level_packet {
  level_form form;
  const float* numbers;   ///< numbers of all rows
  const std::byte* codes; ///< null when no codes follow: all elements are 0

  vec values(buffer_pool pool, std::uint64_t elements) const;
  /// Writes the elements from `first` on, a multiple of `level_block`.
  void values(std::size_t first, std::span<float> to) const;
};

// @error errc::bad_packet when sizes or numbers are not those of the codec
level_packet read_uniform(const packet& p);
level_packet read_min_max(const packet& p);
level_packet read_qsgd(const packet& p); ///< packets with codes of fixed length
level_packet read_terngrad(const packet& p);

} // namespace gossamer::compress::detail
