#pragma once

#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/level_kernels.hpp"

#include <cstdint>
#include <cstdlib>

// Levels -s .. s in Elias' omega code (elias.hpp), which is short for small numbers.
namespace gossamer::compress::detail {

inline std::uint64_t magnitude_of(int level) noexcept { return static_cast<std::uint64_t>(std::abs(level)); }

enum class level_coding {
  sparse, ///< for each level that is not 0: omega(distance from the one before), sign, omega(|k|)
  dense   ///< for each level: omega(|k| + 1), and its sign unless it is 0
};

/// Bits of the codes from which levels -s .. s are written, and as which they are read.
constexpr int level_code_bits(int s) noexcept { return s <= 127 ? 8 : 16; }

/// Writes levels block by block.
class level_writer {
public:
  /// @param to room for `most_bytes`
  level_writer(level_coding code, int s, std::byte* to) noexcept : code_(code), s_(s), out_(to) {}

  /// Bytes that are needed to write so many levels, whatever they are.
  static std::uint64_t most_bytes(level_coding code, std::uint64_t elements, int s) noexcept;

  /// Writes the first levels of a block.
  void write(const level_codes& codes, std::size_t count) noexcept;
  /// Nothing may be written behind it. @returns the number of bits; those behind them in the last byte are 0
  std::uint64_t finish() noexcept;

private:
  level_coding code_;
  int s_;
  roomy_bit_writer out_;
  std::uint64_t zeros_ = 0; // behind the last level that is not 0, not written yet
};

/// Returns the most bits that so many levels |k| <= s can take.
/// @param energy upper bound of sum (|k| - 1)^2 over the levels that are not 0
double most_level_bits(level_coding code, std::uint64_t elements, int s, double energy) noexcept;

/// Reads levels block by block. The bits are not trusted.
class level_reader {
public:
  /// @error errc::bad_packet here and in `read` on places or levels out of range, or when the stream ends too early
  level_reader(level_coding code, bit_reader in, std::uint64_t elements, int s);

  /// Reads levels begin .. begin + count - 1 as codes of `level_code_bits`. Blocks are read in order.
  void read(std::size_t begin, std::size_t count, level_codes& codes);
  /// @error errc::bad_packet when bits follow the last level
  void expect_end() const;

private:
  template <class Level>
  void read_dense(Level* levels, std::size_t count);
  template <class Level>
  void read_sparse(std::uint64_t begin, Level* levels, std::size_t count);
  int take_level(std::uint64_t magnitude, bool negative) const;
  void find_next();

  level_coding code_;
  bit_reader in_;
  std::uint64_t elements_;
  int s_;
  // The next level of a sparse stream and its place, which is `elements_` at the end.
  std::uint64_t place_ = 0;
  int level_ = 0;
};

} // namespace gossamer::compress::detail
