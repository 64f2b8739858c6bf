#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/compress/detail/level_kernels.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace gossamer::compress::detail {

/// The stream whose halves of words round, so that no numbers of the given one are used twice.
random_stream half_stream(const random_stream& random) noexcept;

/// What 16 random bits an element do to the mean, for meanings of parameters.
inline constexpr auto halves_bias = "biased by 2^-17 of a level at most";
/// `rounding` of a codec: 32 or 16 random bits an element.
parameter rounding_parameter();
/// What it does, for the documentation of codecs.
inline constexpr auto halves_maths = R"(
With rounding=16, u = (half + 1/2) * 2^-16, where half i of the step belongs to element i: the lower 16 bits of word
i / 2 if i is even, else the upper ones, of the stream whose seed is the key of the encoder's, rank 0, purpose halves.
An element goes up with a probability that is wrong by 2^-17 at most, so E C(v)_i is off by that part of a level.)";
rounding rounding_of(const arguments& given);

/// The random bits of one step with which a vector is rounded.
class rounding_bits {
public:
  rounding_bits(rounding how, const random_stream& random, std::uint64_t step) noexcept
      : how_(how), random_(how == rounding::halves ? half_stream(random) : random), step_(step) {}

  /// Draws those of elements first .. first + count - 1.
  /// @param first a multiple of 8
  void fill(std::size_t first, std::size_t count, level_bits& to) const noexcept;

private:
  rounding how_;
  random_stream random_;
  std::uint64_t step_;
};

/// Calls `action(chunk, first, count)` for the parts of elements begin .. end - 1 that lie in one chunk each.
template <class Action>
void for_each_part(std::size_t begin, std::size_t end, std::size_t chunk, Action action) {
  while (begin < end) {
    const auto index = begin / chunk;
    const auto count = std::min(end - begin, chunk - begin % chunk);
    action(index, begin, count);
    begin += count;
  }
}

/// Start of the packed codes from element `first` on. Requires bits * first to be a multiple of 8.
constexpr std::size_t code_bytes(int bits, std::size_t first) noexcept {
  return first / 8 * static_cast<std::size_t>(bits);
}

/// Rounds a vector to levels, block by block. `grid_of(c)` gives the levels of elements chunk * c to chunk * (c + 1) -
/// 1.
/// @param sink called as (begin, count, codes) for each block, in order
template <class GridOf, class Sink>
void quantise_blocks(int bits, std::span<const float> v, std::size_t chunk, GridOf grid_of, const rounding_bits& random,
                     Sink sink) {
  level_bits drawn;
  level_codes codes;
  for (std::size_t begin = 0; begin < v.size(); begin += level_block) {
    const auto end = std::min(begin + level_block, v.size());
    random.fill(begin, end - begin, drawn);
    for_each_part(begin, end, chunk, [&](std::size_t c, std::size_t first, std::size_t count) {
      quantise_levels(bits, grid_of(c), v.subspan(first, count), drawn, codes, first - begin);
    });
    sink(begin, end - begin, codes);
  }
}

/// The inverse: writes the values of the codes that `source(begin, count, codes)` fills in.
/// @param from place of the first element of v in the whole vector, a multiple of `level_block`
template <class GridOf, class Source>
void dequantise_blocks(int bits, std::size_t chunk, GridOf grid_of, std::size_t from, std::span<float> v,
                       Source source) {
  level_codes codes;
  for (std::size_t begin = from; begin < from + v.size(); begin += level_block) {
    const auto end = std::min(begin + level_block, from + v.size());
    source(begin, end - begin, codes);
    for_each_part(begin, end, chunk, [&](std::size_t c, std::size_t first, std::size_t count) {
      dequantise_levels(bits, grid_of(c), codes, first - begin, v.subspan(first - from, count));
    });
  }
}

/// Rounds a vector to levels and packs their codes of 1..16 bits.
template <class GridOf>
void encode_levels(int bits, std::span<const float> v, std::size_t chunk, GridOf grid_of, const rounding_bits& random,
                   std::byte* out) {
  quantise_blocks(bits, v, chunk, grid_of, random, [&](std::size_t begin, std::size_t count, level_codes& codes) {
    pack_levels(bits, codes, count, out + code_bytes(bits, begin));
  });
}

/// @param in codes of the whole vector; v gets the elements from `from` on, as above
template <class GridOf>
void decode_levels(int bits, const std::byte* in, std::size_t chunk, GridOf grid_of, std::span<float> v,
                   std::size_t from = 0) {
  dequantise_blocks(bits, chunk, grid_of, from, v, [&](std::size_t begin, std::size_t count, level_codes& codes) {
    unpack_levels(bits, in + code_bytes(bits, begin), count, codes);
  });
}

/// ceil(elements / chunk), the number of chunks.
constexpr std::uint64_t chunks_of(std::uint64_t elements, std::uint64_t chunk) noexcept {
  return elements / chunk + (elements % chunk != 0);
}

} // namespace gossamer::compress::detail
