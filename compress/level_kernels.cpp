// The inner loops of codecs with evenly spaced levels, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/level_kernels.cpp"
#include "gossamer/compress/detail/level_kernels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lanes of the longest register that is used. Rows may be short, so shorter registers take what is left.
constexpr std::size_t most_lanes = 16;

/// u * 2^24 of one register of elements.
template <class D>
HWY_INLINE hn::Vec<D> random_bits(D du, const std::uint32_t* words) {
  return hn::ShiftRight<8>(hn::LoadU(du, words));
}
template <class D>
HWY_INLINE hn::Vec<D> random_bits(D du, const std::uint16_t* halves) {
  const auto half = hn::PromoteTo(du, hn::LoadU(hn::Rebind<std::uint16_t, D>{}, halves));
  return hn::Or(hn::ShiftLeft<8>(half), hn::Set(du, word_of_half(0) >> 8));
}

/// Codes of one register of elements, each in a `Code` of its own, masked to the width.
/// Products and sums are rounded one by one, never fused: every machine must make the same bytes.
/// @param random words, or halves of words
template <bool exact_ends, class Random, class Code, class D>
HWY_INLINE void quantise(D d, int bits, const level_grid& grid, const float* v, const Random* random, Code* codes) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<Code, D> dc;
  constexpr float ones = 0x1.8p23f; // the last bit of a float of this size counts ones
  const auto bottom = hn::Set(d, grid.bottom), top = hn::Set(d, grid.top);

  const auto x = hn::LoadU(d, v);
  auto y = x;
  if constexpr (exact_ends)
    y = hn::Sub(y, hn::Set(d, grid.middle));
  y = hn::Add(hn::Mul(y, hn::Set(d, grid.inverse)), hn::Set(d, grid.offset));
  const auto u = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, random_bits(du, random))), hn::Set(d, 0x1p-24f));
  const auto f = hn::Floor(y);
  auto k = hn::Add(f, hn::IfThenElseZero(hn::Lt(u, hn::Sub(y, f)), hn::Set(d, 1.0f)));
  k = hn::Max(bottom, hn::Min(k, top));
  if constexpr (exact_ends) {
    k = hn::IfThenElse(hn::Ge(x, hn::Set(d, grid.high)), top, k);
    k = hn::IfThenElse(hn::Le(x, hn::Set(d, grid.low)), bottom, k);
  }
  const auto code = hn::And(hn::BitCast(du, hn::Add(k, hn::Set(d, ones))), hn::Set(du, (1u << bits) - 1));
  hn::StoreU(hn::TruncateTo(dc, code), dc, codes);
}

template <bool exact_ends, class Code, class D>
HWY_INLINE void dequantise(D d, int bits, const level_grid& grid, const Code* codes, float* v) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Code, D> dc;
  const auto sign = hn::Set(di, grid.bottom < 0 ? 1 << (bits - 1) : 0);
  const auto low = hn::Set(d, grid.low), high = hn::Set(d, grid.high);
  const auto code = hn::PromoteTo(di, hn::LoadU(dc, codes));
  const auto k = hn::ConvertTo(d, hn::Sub(hn::Xor(code, sign), sign)); // extends the sign
  auto x = hn::Mul(hn::Sub(k, hn::Set(d, grid.offset)), hn::Set(d, grid.step));
  if constexpr (exact_ends)
    x = hn::Add(x, hn::Set(d, grid.middle));
  x = hn::Max(low, hn::Min(x, high));
  if constexpr (exact_ends) {
    x = hn::IfThenElse(hn::Eq(k, hn::Set(d, grid.bottom)), low, x);
    x = hn::IfThenElse(hn::Eq(k, hn::Set(d, grid.top)), high, x);
  }
  hn::StoreU(x, d, v);
}

/// Calls `action(tag, i)` for whole registers of elements, and for ever shorter ones behind them.
template <std::size_t most = most_lanes, class Action>
HWY_INLINE void for_each_register(std::size_t size, Action action, std::size_t i = 0) {
  const hn::CappedTag<float, most> d;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d))
    action(d, i);
  if constexpr (most > 1)
    for_each_register<most / 2>(size, action, i);
}

template <bool exact_ends, class Random, class Code>
void quantise_all(int bits, const level_grid& grid, std::span<const float> v, const Random* random, Code* codes) {
  const auto action = [&](auto d, std::size_t i)
                          HWY_ATTR { quantise<exact_ends>(d, bits, grid, v.data() + i, random + i, codes + i); };
  for_each_register(v.size(), action);
}

template <bool exact_ends, class Code>
void dequantise_all(int bits, const level_grid& grid, const Code* codes, std::span<float> v) {
  const auto action = [&](auto d, std::size_t i)
                          HWY_ATTR { dequantise<exact_ends>(d, bits, grid, codes + i, v.data() + i); };
  for_each_register(v.size(), action);
}

/// @returns false when there is a NaN
template <std::size_t most>
bool find_range_by(std::span<const float> v, value_range& range) {
  const hn::CappedTag<float, most> d;
  if constexpr (most > 1)
    if (v.size() < hn::Lanes(d))
      return find_range_by<most / 2>(v, range);
  auto low = hn::Set(d, range.low), high = hn::Set(d, range.high);
  auto number = hn::Eq(low, low);
  const auto see = [&](std::size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, v.data() + i);
    low = hn::Min(low, x);
    high = hn::Max(high, x);
    number = hn::And(number, hn::Eq(x, x));
  };
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= v.size(); i += hn::Lanes(d))
    see(i);
  if (i < v.size())
    see(v.size() - hn::Lanes(d)); // some of them again
  range = {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  return hn::AllTrue(d, number);
}

bool find_range(std::span<const float> v, value_range& range) { return find_range_by<most_lanes>(v, range); }

/// How the fields of a 64-bit word move together, neighbour by neighbour: in round r, pairs of fields of `bits << r`
/// bits, `shift[r]` bits apart, become one field. The masks are those of the lower and the (already moved) upper field
/// of every pair.
struct folding {
  int rounds = 0;
  int shift[3] = {};
  std::uint64_t low[3] = {}, high[3] = {};

  folding(int bits, int stride) {
    for (; stride < 64; stride *= 2, bits *= 2, ++rounds) {
      shift[rounds] = stride - bits;
      low[rounds] = (std::uint64_t{1} << bits) - 1;
      for (int copied = 2 * stride; copied < 64; copied *= 2)
        low[rounds] |= low[rounds] << copied;
      high[rounds] = low[rounds] << bits;
    }
  }
};

/// Closes the gaps between the codes of a 64-bit word.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V fold(D d, V x, const folding& f) {
  for (int r = 0; r < f.rounds; ++r)
    x = hn::Or(hn::And(x, hn::Set(d, f.low[r])), hn::And(hn::ShiftRightSame(x, f.shift[r]), hn::Set(d, f.high[r])));
  return x;
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V unfold(D d, V x, const folding& f) {
  for (int r = f.rounds; r-- > 0;)
    x = hn::Or(hn::And(x, hn::Set(d, f.low[r])), hn::ShiftLeftSame(hn::And(x, hn::Set(d, f.high[r])), f.shift[r]));
  return x;
}

HWY_INLINE std::uint64_t fold_word(std::uint64_t x, const folding& f) {
  for (int r = 0; r < f.rounds; ++r)
    x = (x & f.low[r]) | (x >> f.shift[r] & f.high[r]);
  return x;
}

HWY_INLINE std::uint64_t unfold_word(std::uint64_t x, const folding& f) {
  for (int r = f.rounds; r-- > 0;)
    x = (x & f.low[r]) | (x & f.high[r]) << f.shift[r];
  return x;
}

/// Calls `action(tag, g)` for whole registers of 64-bit words, and for each single word behind them.
template <class Action>
void for_each_group(std::size_t groups, Action action) {
  const hn::ScalableTag<std::uint64_t> d;
  std::size_t g = 0;
  for (; g + hn::Lanes(d) <= groups; g += hn::Lanes(d))
    action(d, g);
  for (; g < groups; ++g)
    action(hn::CappedTag<std::uint64_t, 1>{}, g);
}

inline std::size_t bytes_of(int bits, std::size_t elements) {
  return (elements * static_cast<std::size_t>(bits) + 7) / 8;
}

/// Widths 1, 2 and 4: eight codes make a whole `Packed`.
template <class Packed>
void pack_whole(int bits, const std::uint64_t* codes, std::size_t groups, Packed* out) {
  const folding f(bits, 8);
  const auto pack = [&](auto d, std::size_t g) HWY_ATTR {
    const hn::Rebind<Packed, decltype(d)> dp;
    hn::StoreU(hn::TruncateTo(dp, fold(d, hn::LoadU(d, codes + g), f)), dp, out + g);
  };
  for_each_group(groups, pack);
}

template <class Packed>
void unpack_whole(int bits, const Packed* in, std::size_t groups, std::uint64_t* codes) {
  const folding f(bits, 8);
  const auto unpack = [&](auto d, std::size_t g) HWY_ATTR {
    const hn::Rebind<Packed, decltype(d)> dp;
    const hn::Rebind<std::uint32_t, decltype(d)> middle;
    const auto packed = hn::LoadU(dp, in + g);
    if constexpr (sizeof(Packed) == 4)
      hn::StoreU(unfold(d, hn::PromoteTo(d, packed), f), d, codes + g);
    else
      hn::StoreU(unfold(d, hn::PromoteTo(d, hn::PromoteTo(middle, packed)), f), d, codes + g);
  };
  for_each_group(groups, unpack);
}

/// Widths 3, 5, 6 and 7: eight codes fill a part of a word. Writes up to 5 bytes behind the last
/// code.
void pack_narrow(int bits, const std::uint64_t* codes, std::size_t groups, std::byte* out) {
  const folding f(bits, 8);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto word = fold_word(codes[g], f);
    std::memcpy(out + g * static_cast<std::size_t>(bits), &word, 8);
  }
}

void unpack_narrow(int bits, const std::byte* in, std::size_t groups, std::uint64_t* codes) {
  const folding f(bits, 8);
  for (std::size_t g = 0; g < groups; ++g) {
    std::uint64_t word;
    std::memcpy(&word, in + g * static_cast<std::size_t>(bits), 8);
    codes[g] = unfold_word(word, f);
  }
}

/// Widths 9 to 15: eight codes in two words become one run of bits. Writes up to 7 bytes behind the
/// last code.
void pack_wide(int bits, const std::uint64_t* codes, std::size_t groups, std::byte* out) {
  const folding f(bits, 16);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto low = fold_word(codes[2 * g], f), high = fold_word(codes[2 * g + 1], f);
    const std::uint64_t words[2] = {low | high << (4 * bits), high >> (64 - 4 * bits)};
    std::memcpy(out + g * static_cast<std::size_t>(bits), words, 16);
  }
}

void unpack_wide(int bits, const std::byte* in, std::size_t groups, std::uint64_t* codes) {
  const folding f(bits, 16);
  for (std::size_t g = 0; g < groups; ++g) {
    std::uint64_t words[2];
    std::memcpy(words, in + g * static_cast<std::size_t>(bits), 16);
    codes[2 * g] = unfold_word(words[0], f);
    codes[2 * g + 1] = unfold_word(words[0] >> (4 * bits) | words[1] << (64 - 4 * bits), f);
  }
}

/// Packed codes of one block, with room for the overhang of the last word.
struct packed_codes {
  alignas(64) std::byte bytes[2 * level_block + 16];
};

void pack(int bits, level_codes& codes, std::size_t count, std::byte* out) {
  const auto groups = (count + 7) / 8;
  const std::size_t width = bits <= 8 ? 1 : 2;
  // The last group of eight codes may be incomplete; zero bits fill it up.
  std::memset(codes.bytes + count * width, 0, (8 * groups - count) * width);
  const auto* words = reinterpret_cast<const std::uint64_t*>(codes.bytes);
  packed_codes packed;
  const std::byte* result = packed.bytes;
  switch (bits) {
  case 1:
    pack_whole(bits, words, groups, reinterpret_cast<std::uint8_t*>(packed.bytes));
    break;
  case 2:
    pack_whole(bits, words, groups, reinterpret_cast<std::uint16_t*>(packed.bytes));
    break;
  case 4:
    pack_whole(bits, words, groups, reinterpret_cast<std::uint32_t*>(packed.bytes));
    break;
  case 8:
  case 16:
    result = codes.bytes;
    break;
  default:
    (bits < 8 ? pack_narrow : pack_wide)(bits, words, groups, packed.bytes);
  }
  std::memcpy(out, result, bytes_of(bits, count));
}

void unpack(int bits, const std::byte* in, std::size_t count, level_codes& codes) {
  const auto groups = (count + 7) / 8;
  if (bits == 8 || bits == 16) {
    std::memcpy(codes.bytes, in, bytes_of(bits, count));
    return;
  }
  packed_codes packed;
  std::memcpy(packed.bytes, in, bytes_of(bits, count));
  auto* words = reinterpret_cast<std::uint64_t*>(codes.bytes);
  switch (bits) {
  case 1:
    unpack_whole(bits, reinterpret_cast<const std::uint8_t*>(packed.bytes), groups, words);
    break;
  case 2:
    unpack_whole(bits, reinterpret_cast<const std::uint16_t*>(packed.bytes), groups, words);
    break;
  case 4:
    unpack_whole(bits, reinterpret_cast<const std::uint32_t*>(packed.bytes), groups, words);
    break;
  default:
    (bits < 8 ? unpack_narrow : unpack_wide)(bits, packed.bytes, groups, words);
  }
}

template <class Random>
void quantise_with(int bits, const level_grid& grid, std::span<const float> v, const Random* random, level_codes& codes,
                   std::size_t first) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(codes.bytes) + first;
  auto* pairs = reinterpret_cast<std::uint16_t*>(codes.bytes) + first;
  if (grid.exact_ends)
    bits <= 8 ? quantise_all<true>(bits, grid, v, random, bytes) : quantise_all<true>(bits, grid, v, random, pairs);
  else
    bits <= 8 ? quantise_all<false>(bits, grid, v, random, bytes) : quantise_all<false>(bits, grid, v, random, pairs);
}

void quantise_part(int bits, const level_grid& grid, std::span<const float> v, const level_bits& random,
                   level_codes& codes, std::size_t first) {
  if (random.halved)
    quantise_with(bits, grid, v, reinterpret_cast<const std::uint16_t*>(random.words) + first, codes, first);
  else
    quantise_with(bits, grid, v, random.words + first, codes, first);
}

void dequantise_part(int bits, const level_grid& grid, const level_codes& codes, std::size_t first,
                     std::span<float> v) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.bytes) + first;
  const auto* pairs = reinterpret_cast<const std::uint16_t*>(codes.bytes) + first;
  if (grid.exact_ends)
    bits <= 8 ? dequantise_all<true>(bits, grid, bytes, v) : dequantise_all<true>(bits, grid, pairs, v);
  else
    bits <= 8 ? dequantise_all<false>(bits, grid, bytes, v) : dequantise_all<false>(bits, grid, pairs, v);
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compress::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compress::detail {

HWY_EXPORT(quantise_part);
HWY_EXPORT(dequantise_part);
HWY_EXPORT(pack);
HWY_EXPORT(unpack);
HWY_EXPORT(find_range);

void quantise_levels(int bits, const level_grid& grid, std::span<const float> v, const level_bits& random,
                     level_codes& codes, std::size_t first) noexcept {
  HWY_DYNAMIC_DISPATCH(quantise_part)(bits, grid, v, random, codes, first);
}

void dequantise_levels(int bits, const level_grid& grid, const level_codes& codes, std::size_t first,
                       std::span<float> v) noexcept {
  HWY_DYNAMIC_DISPATCH(dequantise_part)(bits, grid, codes, first, v);
}

void pack_levels(int bits, level_codes& codes, std::size_t count, std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(pack)(bits, codes, count, out);
}

void unpack_levels(int bits, const std::byte* in, std::size_t count, level_codes& codes) noexcept {
  HWY_DYNAMIC_DISPATCH(unpack)(bits, in, count, codes);
}

value_range range_of(std::span<const float> v) noexcept {
  value_range range;
  if (!HWY_DYNAMIC_DISPATCH(find_range)(v, range))
    return {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
  return {range.low + 0.0f, range.high + 0.0f}; // it depends on the instruction set whether -0 or +0 was found
}

} // namespace gossamer::compress::detail
#endif
