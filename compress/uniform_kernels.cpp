// The inner loops of the uniform quantiser, compiled once for each instruction set and chosen at
// run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/uniform_kernels.cpp"
#include "gossamer/compress/detail/uniform_kernels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using single = hn::CappedTag<float, 1>; // one lane: what is left behind the last whole register

/// Codes of one register of elements, each in a `Code` of its own, masked to the width.
/// Products and sums are rounded one by one, never fused: every machine must make the same bytes.
template <bool one_bit, class Code, class D>
HWY_INLINE void quantise(D d, int bits, float inverse, const float* v, const std::uint32_t* words, Code* codes) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::make_signed_t<Code>, D> dc;
  const auto one = hn::Set(d, 1.0f);
  const auto top = hn::Set(d, one_bit ? 0.0f : static_cast<float>((1 << (bits - 1)) - 1));
  const auto bottom = one_bit ? hn::Neg(one) : hn::Neg(top);

  auto y = hn::Mul(hn::LoadU(d, v), hn::Set(d, inverse));
  if constexpr (one_bit)
    y = hn::Mul(hn::Sub(y, one), hn::Set(d, 0.5f));
  const auto word = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, words)));
  const auto u = hn::Mul(hn::ConvertTo(d, word), hn::Set(d, 0x1p-24f));
  const auto f = hn::Floor(y);
  const auto k = hn::Add(f, hn::IfThenElseZero(hn::Lt(u, hn::Sub(y, f)), one));
  const auto clamped = hn::ConvertTo(di, hn::Max(bottom, hn::Min(k, top)));
  const auto mask = hn::Set(dc, static_cast<std::make_signed_t<Code>>((1 << bits) - 1));
  hn::StoreU(hn::And(hn::DemoteTo(dc, clamped), mask), dc, reinterpret_cast<std::make_signed_t<Code>*>(codes));
}

template <bool one_bit, class Code, class D>
HWY_INLINE void dequantise(D d, int bits, float delta, const Code* codes, float* v) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Code, D> dc;
  const auto sign = hn::Set(di, 1 << (bits - 1));
  const auto code = hn::PromoteTo(di, hn::LoadU(dc, codes));
  auto level = hn::Sub(hn::Xor(code, sign), sign); // extends the sign
  if constexpr (one_bit)
    level = hn::Add(hn::Add(level, level), hn::Set(di, 1));
  hn::StoreU(hn::Mul(hn::ConvertTo(d, level), hn::Set(d, delta)), d, v);
}

template <bool one_bit, class Code>
void quantise_all(int bits, float inverse, std::span<const float> v, const std::uint32_t* words, Code* codes) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= v.size(); i += hn::Lanes(d))
    quantise<one_bit>(d, bits, inverse, v.data() + i, words + i, codes + i);
  for (; i < v.size(); ++i)
    quantise<one_bit>(single{}, bits, inverse, v.data() + i, words + i, codes + i);
}

template <bool one_bit, class Code>
void dequantise_all(int bits, float delta, const Code* codes, std::span<float> v) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= v.size(); i += hn::Lanes(d))
    dequantise<one_bit>(d, bits, delta, codes + i, v.data() + i);
  for (; i < v.size(); ++i)
    dequantise<one_bit>(single{}, bits, delta, codes + i, v.data() + i);
}

/// How the fields of a 64-bit word move together, neighbour by neighbour: in round r, pairs of
/// fields of `bits << r` bits, `shift[r]` bits apart, become one field. Masks of the lower and
/// (already moved) upper field of every pair.
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

/// Calls `action(tag, g)` for whole registers of 64-bit words, and word by word for those that are
/// left.
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

/// Memory of one block: codes in a byte or two each, and the same packed, with room for the
/// overhang of the last word.
struct scratch {
  alignas(64) std::uint64_t codes[uniform_block / 4];
  alignas(64) std::uint64_t packed[uniform_block / 4 + 2];
};

/// @returns where the packed codes are
const void* pack(int bits, scratch& s, std::size_t groups) {
  switch (bits) {
  case 1:
    pack_whole(bits, s.codes, groups, reinterpret_cast<std::uint8_t*>(s.packed));
    break;
  case 2:
    pack_whole(bits, s.codes, groups, reinterpret_cast<std::uint16_t*>(s.packed));
    break;
  case 4:
    pack_whole(bits, s.codes, groups, reinterpret_cast<std::uint32_t*>(s.packed));
    break;
  case 8:
  case 16:
    return s.codes;
  default:
    (bits < 8 ? pack_narrow : pack_wide)(bits, s.codes, groups, reinterpret_cast<std::byte*>(s.packed));
  }
  return s.packed;
}

/// @returns where the codes are
const std::uint64_t* unpack(int bits, scratch& s, std::size_t groups) {
  switch (bits) {
  case 1:
    unpack_whole(bits, reinterpret_cast<const std::uint8_t*>(s.packed), groups, s.codes);
    break;
  case 2:
    unpack_whole(bits, reinterpret_cast<const std::uint16_t*>(s.packed), groups, s.codes);
    break;
  case 4:
    unpack_whole(bits, reinterpret_cast<const std::uint32_t*>(s.packed), groups, s.codes);
    break;
  case 8:
  case 16:
    return s.packed;
  default:
    (bits < 8 ? unpack_narrow : unpack_wide)(bits, reinterpret_cast<const std::byte*>(s.packed), groups, s.codes);
  }
  return s.codes;
}

void encode_block(int bits, float inverse, std::span<const float> v, const std::uint32_t* words, std::byte* out) {
  scratch s;
  const auto groups = (v.size() + 7) / 8;
  auto* bytes = reinterpret_cast<std::uint8_t*>(s.codes);
  auto* pairs = reinterpret_cast<std::uint16_t*>(s.codes);
  // The last group of eight codes may be filled by halves; what is missing are zero bits.
  for (std::size_t i = v.size(); i < 8 * groups; ++i)
    bits <= 8 ? bytes[i] = 0 : pairs[i] = 0;
  if (bits == 1)
    quantise_all<true>(bits, inverse, v, words, bytes);
  else if (bits <= 8)
    quantise_all<false>(bits, inverse, v, words, bytes);
  else
    quantise_all<false>(bits, inverse, v, words, pairs);
  std::memcpy(out, pack(bits, s, groups), bytes_of(bits, v.size()));
}

void decode_block(int bits, float delta, const std::byte* in, std::span<float> v) {
  scratch s;
  std::memcpy(s.packed, in, bytes_of(bits, v.size()));
  const auto* codes = unpack(bits, s, (v.size() + 7) / 8);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes);
  const auto* pairs = reinterpret_cast<const std::uint16_t*>(codes);
  if (bits == 1)
    dequantise_all<true>(bits, delta, bytes, v);
  else if (bits <= 8)
    dequantise_all<false>(bits, delta, bytes, v);
  else
    dequantise_all<false>(bits, delta, pairs, v);
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compress::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compress::detail {

HWY_EXPORT(encode_block);
HWY_EXPORT(decode_block);

void uniform_encode_block(int bits, float inverse, std::span<const float> v, const std::uint32_t* words,
                          std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(encode_block)(bits, inverse, v, words, out);
}

void uniform_decode_block(int bits, float delta, const std::byte* in, std::span<float> v) noexcept {
  HWY_DYNAMIC_DISPATCH(decode_block)(bits, delta, in, v);
}

} // namespace gossamer::compress::detail
#endif
