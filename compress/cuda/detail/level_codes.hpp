#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/compress/cuda/detail/memory_access.hpp"
#include "gossamer/compress/detail/level_form.hpp"

#include <cmath>

// Levels and their codes: eight elements a thread, whose codes fill whole bytes.
namespace gossamer::compress::cuda {

using detail::level_form;
using detail::level_grid;

/// Code of one element: rounded up when u < the fraction, u = (word >> 8) * 2^-24. Same arithmetic as
/// level_kernels.cpp.
GOSSAMER_HD inline std::uint32_t level_code(const level_grid& grid, int bits, float x, std::uint32_t word) noexcept {
  const float y = (grid.exact_ends ? x - grid.middle : x) * grid.inverse + grid.offset;
  const float f = std::floor(y);
  float k = f + (static_cast<float>(word >> 8) * 0x1p-24f < y - f ? 1.0f : 0.0f);
  k = k < grid.top ? k : grid.top;
  k = k > grid.bottom ? k : grid.bottom;
  if (grid.exact_ends) {
    k = x >= grid.high ? grid.top : k;
    k = x <= grid.low ? grid.bottom : k;
  }
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(k)) & ((1u << bits) - 1);
}

/// Value of a code.
GOSSAMER_HD inline float level_value(const level_grid& grid, int bits, std::uint32_t code) noexcept {
  const auto sign = grid.bottom < 0 ? std::int32_t{1} << (bits - 1) : 0;
  const auto k = static_cast<float>((static_cast<std::int32_t>(code) ^ sign) - sign);
  float x = (k - grid.offset) * grid.step;
  if (grid.exact_ends)
    x = x + grid.middle;
  x = x < grid.high ? x : grid.high;
  x = x > grid.low ? x : grid.low;
  if (grid.exact_ends) {
    x = k == grid.bottom ? grid.low : x;
    x = k == grid.top ? grid.high : x;
  }
  return x;
}

/// Eight codes of up to 16 bits, one after the other without gaps.
struct eight_codes {
  std::uint64_t low = 0, high = 0;

  GOSSAMER_HD static eight_codes pack(int bits, const std::uint32_t* codes) noexcept {
    std::uint64_t half[2] = {};
    GOSSAMER_UNROLL
    for (int j = 0; j < 8; ++j)
      half[j / 4] |= std::uint64_t{codes[j]} << (j % 4 * bits);
    if (bits == 16)
      return {half[0], half[1]};
    return {half[0] | half[1] << (4 * bits), half[1] >> (64 - 4 * bits)};
  }

  GOSSAMER_HD void unpack(int bits, std::uint32_t* codes) const noexcept {
    const auto upper = bits == 16 ? high : low >> (4 * bits) | high << (64 - 4 * bits);
    const auto mask = (1u << bits) - 1;
    GOSSAMER_UNROLL
    for (int j = 0; j < 8; ++j)
      codes[j] = static_cast<std::uint32_t>((j < 4 ? low : upper) >> (j % 4 * bits)) & mask;
  }

  /// Stores the `bits` bytes of the codes, in whole words where possible. `to` is as aligned as `bits` is a multiple of
  /// 4.
  GOSSAMER_HD void store(int bits, unsigned char* to) const noexcept {
    if (bits % 4 == 0) {
      GOSSAMER_UNROLL
      for (int w = 0; w < 4; ++w)
        if (4 * w < bits)
          reinterpret_cast<std::uint32_t*>(to)[w] = static_cast<std::uint32_t>((w < 2 ? low : high) >> (w % 2 * 32));
      return;
    }
    for (int b = 0; b < bits; ++b)
      to[b] = static_cast<unsigned char>((b < 8 ? low : high) >> (b % 8 * 8));
  }

  GOSSAMER_HD static eight_codes load(int bits, const unsigned char* from) noexcept {
    std::uint64_t half[2] = {};
    if (bits % 4 == 0) {
      GOSSAMER_UNROLL
      for (int w = 0; w < 4; ++w)
        if (4 * w < bits)
          half[w / 2] |= std::uint64_t{reinterpret_cast<const std::uint32_t*>(from)[w]} << (w % 2 * 32);
      return {half[0], half[1]};
    }
    for (int b = 0; b < bits && b < 8; ++b)
      half[0] |= std::uint64_t{from[b]} << (b * 8);
    for (int b = 8; b < bits; ++b)
      half[1] |= std::uint64_t{from[b]} << (b * 8 - 64);
    return {half[0], half[1]};
  }
};

/// Elements that a warp takes at once: 32 times eight, whose codes are 2 * bits times 16 bytes.
inline constexpr std::uint64_t level_tile = 8 * warp_size;

/// Bytes of codes that the kernels write and read: whole tiles.
constexpr std::uint64_t level_bytes(int bits, std::uint64_t elements) noexcept {
  return (elements + level_tile - 1) / level_tile * static_cast<unsigned>(bits) * warp_size;
}

/// The levels of the row that an element lies in, computed anew where a row begins. Elements are asked for in order.
class rows_of_levels {
public:
  GOSSAMER_KERNEL rows_of_levels(const level_form& form, const float* numbers) : form_(form), numbers_(numbers) {}

  GOSSAMER_KERNEL const level_grid& at(std::uint64_t i) {
    if (i >= end_) {
      const auto r = i / form_.row;
      grid_ = form_.grid(numbers_ + form_.floats() * r);
      end_ = (r + 1) * form_.row;
    }
    return grid_;
  }

  /// Goes to element i. @returns whether the next `count` elements share its row, so that `present` holds their levels
  GOSSAMER_KERNEL bool share_row(std::uint64_t i, std::uint64_t count) {
    at(i);
    return i + count <= end_;
  }
  GOSSAMER_KERNEL const level_grid& present() const { return grid_; }

private:
  const level_form& form_;
  const float* numbers_;
  level_grid grid_{};
  std::uint64_t end_ = 0;
};

/// Shared memory in which the warps of a block assemble the bytes of a tile, so that they reach memory 16 at a time.
struct tile_bytes {
  struct alignas(16) warp_bytes {
    unsigned char bytes[16 * warp_size];
  };
  warp_bytes of_warp[gossamer::cuda::launch_policy::most_threads / warp_size];
};

/// Copies the codes of a tile, 16 bytes a lane.
template <class Thread>
GOSSAMER_KERNEL void copy_tile(Thread& t, unsigned bits, const unsigned char* from, unsigned char* to) {
  if (t.lane() < 2 * bits)
    reinterpret_cast<four<std::uint32_t>*>(to)[t.lane()] = reinterpret_cast<const four<std::uint32_t>*>(from)[t.lane()];
}

/// Rounds at random and packs, in one pass.
struct pack_levels {
  static constexpr const char* name = "pack_levels";
  using shared = tile_bytes;

  level_form form;
  const float* numbers; ///< the numbers at the start of the payload
  const float* v;
  std::uint64_t size;
  detail::rounding how;
  philox_key key; ///< of the `half_stream` for halves
  std::uint64_t step;
  unsigned char* out; ///< `level_bytes`, aligned to 16

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto bits = static_cast<unsigned>(form.bits);
    auto& tile = t.template shared<shared>().of_warp[t.thread() / warp_size];
    rows_of_levels rows{form, numbers};
    for (auto begin = level_tile * t.warp(); begin < size; begin += level_tile * t.warps()) {
      const auto first = begin + 8 * t.lane();
      const bool whole = whole_tile(v, begin, level_tile, size) && rows.share_row(first, 8);
      const auto codes = whole ? codes_from<true>(t, first, rows) : codes_from<false>(t, first, rows);
      t.sync_warp(); // all lanes have read the former tile
      codes.store(form.bits, tile.bytes + bits * t.lane());
      t.sync_warp();
      copy_tile(t, bits, tile.bytes, out + begin / 8 * bits);
    }
  }

private:
  /// The word that rounds element j of eight.
  GOSSAMER_KERNEL std::uint32_t word_of(const philox_counter& words, unsigned j) const {
    if (how == detail::rounding::halves)
      return detail::word_of_half(words[j / 2] >> 16 * (j % 2) & 0xFFFFu);
    return words[j % 4];
  }

  template <bool whole, class Thread>
  GOSSAMER_KERNEL eight_codes codes_from(Thread& t, std::uint64_t first, rows_of_levels& rows) const {
    std::uint32_t codes[8] = {};
    const four<float> x[2] = {load_four<whole>(v, first, size), load_four<whole>(v, first + 4, size)};
    philox_counter words{0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u};
    if (how == detail::rounding::halves) // one group of words is enough for eight elements
      words = t.random(key, step, first / 8);
    GOSSAMER_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const auto begin = first + 4 * half;
      if (how == detail::rounding::words)
        words = t.random(key, step, begin / 4);
      GOSSAMER_UNROLL
      for (unsigned j = 0; j < 4; ++j)
        if (whole || begin + j < size)
          codes[4 * half + j] = level_code(whole ? rows.present() : rows.at(begin + j), form.bits, x[half].x[j],
                                           word_of(words, 4 * half + j));
    }
    return eight_codes::pack(form.bits, codes);
  }
};

/// y += a * decode(codes), in one pass.
struct add_levels {
  static constexpr const char* name = "add_levels";
  using shared = tile_bytes;

  level_form form;
  const float* numbers;
  const unsigned char* codes; ///< `level_bytes`, aligned to 16
  float factor;
  float* y;
  std::uint64_t size;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto bits = static_cast<unsigned>(form.bits);
    auto& tile = t.template shared<shared>().of_warp[t.thread() / warp_size];
    rows_of_levels rows{form, numbers};
    for (auto begin = level_tile * t.warp(); begin < size; begin += level_tile * t.warps()) {
      t.sync_warp(); // all lanes have read the former tile
      copy_tile(t, bits, codes + begin / 8 * bits, tile.bytes);
      t.sync_warp();
      const auto first = begin + 8 * t.lane();
      const auto read = eight_codes::load(form.bits, tile.bytes + bits * t.lane());
      if (whole_tile(y, begin, level_tile, size) && rows.share_row(first, 8))
        add_eight<true>(read, first, rows);
      else
        add_eight<false>(read, first, rows);
    }
  }

private:
  template <bool whole>
  GOSSAMER_KERNEL void add_eight(const eight_codes& read, std::uint64_t first, rows_of_levels& rows) const {
    std::uint32_t code[8];
    four<float> sum[2] = {load_four<whole>(y, first, size), load_four<whole>(y, first + 4, size)};
    read.unpack(form.bits, code);
    GOSSAMER_UNROLL
    for (unsigned j = 0; j < 8; ++j)
      if (whole || first + j < size)
        sum[j / 4].x[j % 4] += factor * level_value(whole ? rows.present() : rows.at(first + j), form.bits, code[j]);
    store_four<whole>(y, first, size, sum[0]);
    store_four<whole>(y, first + 4, size, sum[1]);
  }
};

} // namespace gossamer::compress::cuda
