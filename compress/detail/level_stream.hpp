#pragma once

#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/level_kernels.hpp"

// Levels -s .. s in Elias' omega code (elias.hpp), which is short for small numbers.
namespace gossamer::compress::detail {

enum class level_coding {
  sparse, ///< for each level that is not 0: omega(distance from the one before), sign, omega(|k|)
  dense   ///< for each level: omega(|k| + 1), and its sign unless it is 0
};

std::uint64_t level_stream_bits(level_coding code, std::span<const std::int16_t> levels) noexcept;
/// @param to room for as many bits; those behind them in the last byte become 0
void write_levels(level_coding code, std::span<const std::int16_t> levels, std::span<std::byte> to) noexcept;

/// Returns the most bits that so many levels |k| <= s can take.
/// @param energy upper bound of sum (|k| - 1)^2 over the levels that are not 0
double most_level_bits(level_coding code, std::uint64_t elements, int s, double energy) noexcept;

/// Reads levels block by block. The bits are not trusted.
class level_reader {
public:
  /// @error errc::bad_packet here and in `read` on places or levels out of range, or when the stream ends too early
  level_reader(level_coding code, bit_reader in, std::uint64_t elements, int s);

  /// Reads levels begin .. begin + count - 1 as codes of 16 bits. Blocks are read in order.
  void read(std::size_t begin, std::size_t count, level_codes& codes);
  /// @error errc::bad_packet when bits follow the last level
  void expect_end() const;

private:
  std::int16_t take_level(std::uint64_t magnitude, bool negative) const;
  void find_next();

  level_coding code_;
  bit_reader in_;
  std::uint64_t elements_;
  int s_;
  // The next level of a sparse stream and its place, which is `elements_` at the end.
  std::uint64_t place_ = 0;
  std::int16_t level_ = 0;
};

} // namespace gossamer::compress::detail
