#pragma once

#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/detail/bernoulli.hpp"
#include "gossamer/compress/detail/place_kernels.hpp"

#include <algorithm>
#include <array>

namespace gossamer::compress::detail {

/// Indices of elements in ascending order, in memory from a pool. Vectors have at most 2^32 elements.
class places {
public:
  places(buffer_pool pool, std::size_t most) : storage_(pool.allocate(most * sizeof(std::uint32_t))) {}

  std::uint32_t* data() noexcept { return reinterpret_cast<std::uint32_t*>(storage_.data()); }
  const std::uint32_t* begin() const noexcept { return reinterpret_cast<const std::uint32_t*>(storage_.data()); }
  const std::uint32_t* end() const noexcept { return begin() + size(); }
  std::size_t size() const noexcept { return storage_.size() / sizeof(std::uint32_t); }
  buffer_pool pool() const noexcept { return storage_.pool(); }
  std::uint32_t operator[](std::size_t i) const noexcept { return begin()[i]; }
  /// Forgets all places but the first `size`.
  void truncate(std::size_t size) noexcept { storage_.truncate(size * sizeof(std::uint32_t)); }

private:
  buffer storage_;
};

/// Draws uniformly from 0 .. last, which is less than 2^32.
std::size_t draw_up_to(random_sequence& random, std::size_t last);

/// Marks elements of a block, each with probability threshold / 2^24 (bernoulli.hpp has the random numbers).
class random_marks {
public:
  static constexpr std::size_t block = 32 * tile_words;

  random_marks(std::uint32_t threshold, const random_stream& random, std::uint64_t step) noexcept
      : limit_(std::uint64_t{threshold} << 8), random_(random), step_(step) {}

  /// @param first a multiple of `block`
  /// @param count at most `block`
  /// @returns a bit an element, and eight bytes behind them
  const std::uint64_t* draw(std::size_t first, std::size_t count) noexcept {
    const auto marked = std::span{bits_}.first((count + 63) / 64);
    std::ranges::fill(marked, 0);
    flip_bits(limit_, random_, step_, first, count, marked);
    return bits_.data();
  }

private:
  std::uint64_t limit_;
  random_stream random_;
  std::uint64_t step_;
  std::array<std::uint64_t, block / 64 + 1> bits_{};
};

/// Draws each of 0 .. elements - 1 independently, as `random_marks` does.
places draw_each(buffer_pool pool, std::size_t elements, std::uint32_t threshold, const random_stream& random,
                 std::uint64_t step);

/// Elements that are kept: their values and places.
struct survivors {
  places kept;
  vec values;
};

/// Keeps what `keep(elements, first, to)` appends of each block of elements.
template <std::size_t block, class Keep>
survivors keep_some(const vec& v, Keep keep) {
  places kept{v.pool(), v.size()};
  auto values = v.pool().allocate(v.size() * sizeof(float));
  std::size_t count = 0;
  for (std::size_t first = 0; first < v.size(); first += block)
    count += keep(v.view().subspan(first, std::min(block, v.size() - first)), first,
                  kept_end{kept.data() + count, reinterpret_cast<float*>(values.data()) + count});
  kept.truncate(count);
  values.truncate(count * sizeof(float));
  return {std::move(kept), vec{std::move(values)}};
}

/// Draws `count` different ones of 0 .. elements - 1, all sets equally likely (Floyd's algorithm, on the words of the
/// step in their order). O(count) random numbers and O(elements / 64) besides.
/// Requires count <= elements.
places draw_exactly(buffer_pool pool, std::size_t elements, std::size_t count, const random_stream& random,
                    std::uint64_t step);

/// Appends a range behind the others; ranges that touch become one.
void append(std::vector<selection::range>& ranges, std::size_t begin, std::size_t size);

selection select_places(const places& kept, float factor);

// Reads packets whose receiver draws the places again: returns their ranges, for values that need no factor.
// @error errc::bad_packet when the sizes are not those of the codec
selection read_random_k(const packet& p);
selection read_grbs(const packet& p);

} // namespace gossamer::compress::detail
