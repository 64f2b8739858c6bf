// The inner loops behind signs, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/sign_kernels.cpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "gossamer/compress/detail/mask_at.inl"

constexpr std::size_t group = 64; // elements whose bits make one word

/// Registers that are never longer than a group.
template <class T>
using lanes_of = hn::CappedTag<T, group>;

/// The bits of one group. Highway may read and write up to 8 bytes wherever a mask begins.
struct mask_bits {
  std::uint8_t bytes[2 * sizeof(std::uint64_t)] = {};
};

/// Masks are stored in ascending order.
template <class D, class M>
HWY_INLINE void store_mask(D d, M mask, std::uint8_t* bytes, std::size_t i) {
  if (hn::Lanes(d) >= 8) {
    hn::StoreMaskBits(d, mask, bytes + i / 8);
    return;
  }
  std::uint8_t part[8];
  hn::StoreMaskBits(d, mask, part);
  bytes[i / 8] = static_cast<std::uint8_t>((i % 8 == 0 ? 0 : bytes[i / 8]) | part[0] << i % 8);
}

/// Calls `action(first, bytes)` for each whole group but the last, and `last(first, count)` for the rest, so that a
/// mask may be stored in place.
template <class Whole, class Last>
HWY_INLINE void for_each_group(std::size_t size, Whole whole, Last last) {
  std::size_t first = 0;
  for (; first + group < size; first += group)
    whole(first);
  if (first < size)
    last(first, size - first);
}

bool pack_signs(const float* v, std::size_t size, std::uint8_t* bits) {
  const lanes_of<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto no_sign = hn::Set(du, 0x7FFFFFFFu);
  auto largest = hn::Zero(du); // magnitudes of floats are in the order of their bits
  const auto pack = [&](const float* from, std::uint8_t* to) HWY_ATTR {
    for (std::size_t i = 0; i < group; i += hn::Lanes(d)) {
      const auto x = hn::LoadU(d, from + i);
      largest = hn::Max(largest, hn::And(hn::BitCast(du, x), no_sign));
      store_mask(d, hn::Ge(x, hn::Zero(d)), to, i);
    }
  };
  for_each_group(
      size, [&](std::size_t first) HWY_ATTR { pack(v + first, bits + first / 8); },
      [&](std::size_t first, std::size_t count) HWY_ATTR {
        float rest[group];
        mask_bits m;
        std::fill(std::copy_n(v + first, count, rest), rest + group, -1.0f);
        pack(rest, m.bytes);
        std::memcpy(bits + first / 8, m.bytes, (count + 7) / 8);
      });
  return hn::AllTrue(du, hn::Lt(largest, hn::Set(du, 0x7F800000u)));
}

/// Gives each element `plus(d, i)`, where i is its place, or the negative of it.
template <bool accumulate, class Plus>
HWY_INLINE void unpack(const std::uint8_t* bits, Plus plus, float* v, std::size_t size) {
  const lanes_of<float> d;
  const auto unpack_group = [&](std::size_t first, const mask_bits& m, float* to) HWY_ATTR {
    for (std::size_t i = 0; i < group; i += hn::Lanes(d)) {
      auto x = plus(d, first + i);
      x = hn::IfThenElse(mask_at(d, m.bytes, i), x, hn::Neg(x));
      if constexpr (accumulate)
        x = hn::Add(hn::LoadU(d, to + i), x);
      hn::StoreU(x, d, to + i);
    }
  };
  for_each_group(
      size,
      [&](std::size_t first) HWY_ATTR {
        mask_bits m;
        std::memcpy(m.bytes, bits + first / 8, group / 8);
        unpack_group(first, m, v + first);
      },
      [&](std::size_t first, std::size_t count) HWY_ATTR {
        mask_bits m;
        float rest[group] = {};
        std::memcpy(m.bytes, bits + first / 8, (count + 7) / 8);
        std::copy_n(v + first, accumulate ? count : 0, rest);
        unpack_group(first, m, rest);
        std::copy_n(rest, count, v + first);
      });
}

void unpack_signs(const std::uint8_t* bits, float magnitude, float* v, std::size_t size) {
  unpack<false>(
      bits, [=](auto d, std::size_t) HWY_ATTR { return hn::Set(d, magnitude); }, v, size);
}

void add_signs(const std::uint8_t* bits, float magnitude, float* v, std::size_t size) {
  unpack<true>(
      bits, [=](auto d, std::size_t) HWY_ATTR { return hn::Set(d, magnitude); }, v, size);
}

void unpack_row_signs(const std::uint8_t* bits, const float* magnitudes, float* v, std::size_t size) {
  unpack<false>(
      bits, [=](auto d, std::size_t i) HWY_ATTR { return hn::LoadU(d, magnitudes + i); }, v, size);
}

/// Whole registers are stored, and what is too much of one row is written over by the next.
void spread(const float* values, std::size_t row, std::size_t first, std::size_t count, float* to) {
  const lanes_of<float> d;
  values += first / row;
  for (std::size_t i = 0, end = row - first % row; i < count; i = end, end += row, ++values)
    for (const auto value = hn::Set(d, *values); i < std::min(end, count); i += hn::Lanes(d))
      hn::StoreU(value, d, to + i);
}

void draw_signs(const float* v, const float* norms, const std::uint32_t* random, std::size_t size, std::uint8_t* bits) {
  const lanes_of<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const auto draw_group = [&](const float* x, const float* norm_of, const std::uint32_t* from,
                              std::uint8_t* to) HWY_ATTR {
    for (std::size_t i = 0; i < group; i += hn::Lanes(d)) {
      const auto half = hn::Set(d, 0.5f), norm = hn::LoadU(d, norm_of + i);
      const auto divisor = hn::IfThenElse(hn::Gt(norm, hn::Zero(d)), norm, hn::Set(d, 1.0f));
      const auto p = hn::Add(half, hn::Mul(half, hn::Div(hn::LoadU(d, x + i), divisor)));
      const auto word = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, from + i)));
      const auto u = hn::Mul(hn::ConvertTo(d, word), hn::Set(d, 0x1p-24f));
      store_mask(d, hn::Lt(u, p), to, i);
    }
  };
  for_each_group(
      size, [&](std::size_t first) HWY_ATTR { draw_group(v + first, norms + first, random + first, bits + first / 8); },
      [&](std::size_t first, std::size_t count) HWY_ATTR {
        mask_bits drawn;
        float rest[group];
        std::uint32_t words[group];
        std::fill(std::copy_n(v + first, count, rest), rest + group, 0.0f);
        std::fill(std::copy_n(random + first, count, words), words + group, 0xFFFFFFFFu); // above p = 1/2
        draw_group(rest, norms + first, words, drawn.bytes);
        std::memcpy(bits + first / 8, drawn.bytes, (count + 7) / 8);
      });
}

void merge(const std::uint64_t* v, const std::uint64_t* w, const std::uint64_t* r, std::size_t words,
           std::uint64_t* out) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto merged = [](auto x, auto y, auto z) HWY_ATTR { return hn::Or(hn::And(x, y), hn::And(hn::Xor(x, y), z)); };
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= words; i += hn::Lanes(d))
    hn::StoreU(merged(hn::LoadU(d, v + i), hn::LoadU(d, w + i), hn::LoadU(d, r + i)), d, out + i);
  for (; i < words; ++i)
    out[i] = (v[i] & w[i]) | ((v[i] ^ w[i]) & r[i]);
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compress::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compress::detail {

HWY_EXPORT(pack_signs);
HWY_EXPORT(unpack_signs);
HWY_EXPORT(add_signs);
HWY_EXPORT(unpack_row_signs);
HWY_EXPORT(spread);
HWY_EXPORT(draw_signs);
HWY_EXPORT(merge);

namespace {
std::uint8_t* as_bytes(std::byte* bits) { return reinterpret_cast<std::uint8_t*>(bits); }
const std::uint8_t* as_bytes(const std::byte* bits) { return reinterpret_cast<const std::uint8_t*>(bits); }
} // namespace

bool pack_sign_bits(std::span<const float> v, std::byte* bits) noexcept {
  return HWY_DYNAMIC_DISPATCH(pack_signs)(v.data(), v.size(), as_bytes(bits));
}

void unpack_sign_bits(const std::byte* bits, float magnitude, std::span<float> v) noexcept {
  HWY_DYNAMIC_DISPATCH(unpack_signs)(as_bytes(bits), magnitude, v.data(), v.size());
}

void add_sign_bits(const std::byte* bits, float magnitude, std::span<float> v) noexcept {
  HWY_DYNAMIC_DISPATCH(add_signs)(as_bytes(bits), magnitude, v.data(), v.size());
}

void draw_sign_bits(std::span<const float> v, const element_values& norms, const std::uint32_t* random,
                    std::byte* bits) noexcept {
  HWY_DYNAMIC_DISPATCH(draw_signs)(v.data(), norms.of, random, v.size(), as_bytes(bits));
}

void spread_rows(const float* values, std::uint64_t row, std::size_t first, std::size_t count,
                 element_values& to) noexcept {
  HWY_DYNAMIC_DISPATCH(spread)(values, row, first, count, to.of);
}

vec signed_packet::values(buffer_pool pool, std::uint64_t elements) const {
  if (bits == nullptr)
    return {pool, elements};
  vec v{pool.allocate(elements * sizeof(float))};
  values(0, v.overwrite());
  return v;
}

void signed_packet::values(std::size_t first, std::span<float> to) const noexcept {
  if (bits == nullptr) {
    std::ranges::fill(to, 0.0f);
    return;
  }
  if (magnitudes == nullptr || row >= first + to.size()) {
    unpack_sign_bits(bits + first / 8, magnitudes == nullptr ? 1 : *magnitudes, to);
    return;
  }
  element_values spread;
  for (std::size_t begin = 0; begin < to.size(); begin += sign_block) {
    const auto count = std::min(sign_block, to.size() - begin);
    spread_rows(magnitudes, row, first + begin, count, spread);
    HWY_DYNAMIC_DISPATCH(unpack_row_signs)
    (as_bytes(bits + (first + begin) / 8), spread.of, to.data() + begin, count);
  }
}

void merge_words(const std::uint64_t* v, const std::uint64_t* w, const std::uint64_t* r, std::size_t words,
                 std::uint64_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(merge)(v, w, r, words, out);
}

} // namespace gossamer::compress::detail
#endif
