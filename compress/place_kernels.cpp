// The inner loops of codecs that keep some elements, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/place_kernels.cpp"
#include "gossamer/compress/detail/place_kernels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls `action(tag, i)` for whole registers of elements, and for each single one behind them.
template <class Action>
HWY_INLINE void for_each_register(std::size_t size, Action action) {
  const hn::CappedTag<std::uint32_t, 16> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d))
    action(d, i);
  for (; i < size; ++i)
    action(hn::CappedTag<std::uint32_t, 1>{}, i);
}

/// first, first + 1, ...
template <class D>
HWY_INLINE hn::Vec<D> places_from(D d, std::size_t first) {
  return hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<std::uint32_t>(first)));
}

/// Stores the lanes of a mask behind each other. Storing a whole register is faster than an instruction that stores
/// these lanes alone.
template <class D, class V, class T>
HWY_INLINE void append(D d, V x, hn::Mask<D> mask, T* to) {
  hn::StoreU(hn::Compress(x, mask), d, to);
}

/// The mask of a register of elements from i on.
template <class D>
HWY_INLINE hn::Mask<D> mask_at(D d, const std::uint64_t* bits, std::size_t i) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bits) + i / 8;
  if (hn::Lanes(d) >= 8)
    return hn::LoadMaskBits(d, bytes);
  const std::uint8_t part[8] = {static_cast<std::uint8_t>(*bytes >> i % 8)};
  return hn::LoadMaskBits(d, part);
}

std::size_t keep_places(const std::uint64_t* bits, std::size_t size, std::uint32_t first, std::uint32_t* places) {
  std::size_t kept = 0;
  const auto keep = [&](auto d, std::size_t i) HWY_ATTR {
    const auto mask = mask_at(d, bits, i);
    append(d, places_from(d, first + i), mask, places + kept);
    kept += hn::CountTrue(d, mask);
  };
  for_each_register(size, keep);
  return kept;
}

/// @param chooses called as (tag of words, values, number of the first): the mask of those that are kept unless 0
template <class Choice>
HWY_INLINE std::size_t keep(std::span<const float> v, std::uint32_t first, kept_end to, Choice chooses) {
  std::size_t kept = 0;
  const auto keep_some = [&](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToFloat<decltype(d)> df;
    const auto x = hn::LoadU(df, v.data() + i);
    const auto mask = hn::And(chooses(d, x, i), hn::RebindMask(d, hn::Ne(x, hn::Zero(df))));
    append(df, x, hn::RebindMask(df, mask), to.values + kept);
    append(d, places_from(d, first + i), mask, to.places + kept);
    kept += hn::CountTrue(d, mask);
  };
  for_each_register(v.size(), keep_some);
  return kept;
}

std::size_t keep_marked(std::span<const float> v, const std::uint64_t* bits, std::uint32_t first, kept_end to) {
  return keep(v, first, to, [=](auto d, auto, std::size_t i) HWY_ATTR { return mask_at(d, bits, i); });
}

std::size_t keep_large(std::span<const float> v, const std::uint32_t* words, float level, std::uint32_t first,
                       kept_end to) {
  const auto chooses = [=](auto d, auto x, std::size_t i) HWY_ATTR {
    const hn::RebindToFloat<decltype(d)> df;
    const auto m = hn::Abs(x), least = hn::Set(df, level);
    const auto bits = hn::BitCast(hn::RebindToSigned<decltype(d)>{}, hn::ShiftRight<8>(hn::LoadU(d, words + i)));
    const auto u = hn::Mul(hn::ConvertTo(df, bits), hn::Set(df, 0x1p-24f));
    return hn::RebindMask(d, hn::Or(hn::Lt(hn::Mul(u, least), m), hn::Ge(m, least)));
  };
  return keep(v, first, to, chooses);
}

constexpr std::size_t partial_sums = 8;

/// Adds a number of elements that is a multiple of `partial_sums`.
void part(const float* v, std::size_t size, double level, double* below, double* above) {
  const hn::CappedTag<double, partial_sums> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto limit = hn::Set(d, level), one = hn::Set(d, 1.0);
  for (std::size_t j = 0; j < partial_sums; j += hn::Lanes(d)) {
    auto sum = hn::LoadU(d, below + j), count = hn::LoadU(d, above + j);
    for (std::size_t i = j; i < size; i += partial_sums) {
      const auto m = hn::PromoteTo(d, hn::Abs(hn::LoadU(df, v + i)));
      const auto is_below = hn::Le(m, limit);
      sum = hn::Add(sum, hn::IfThenElseZero(is_below, m));
      count = hn::Add(count, hn::IfThenZeroElse(is_below, one));
    }
    hn::StoreU(sum, d, below + j);
    hn::StoreU(count, d, above + j);
  }
}

parted part_all(std::span<const float> v, double level) {
  double below[partial_sums] = {}, above[partial_sums] = {};
  const auto whole = v.size() - v.size() % partial_sums;
  for (std::size_t first = 0; first < whole; first += draw_block) // short registers read a block more than once
    part(v.data() + first, std::min(draw_block, whole - first), level, below, above);
  float rest[partial_sums] = {};
  std::copy(v.begin() + static_cast<std::ptrdiff_t>(whole), v.end(), rest);
  part(rest, partial_sums, level, below, above); // zeros change nothing, for no level is below 0
  parted result;
  for (std::size_t j = 0; j < partial_sums; ++j)
    result = {result.below + below[j], result.above + above[j]};
  return result;
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compress::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compress::detail {

HWY_EXPORT(keep_places);
HWY_EXPORT(keep_marked);
HWY_EXPORT(keep_large);
HWY_EXPORT(part_all);

std::size_t keep_places(const std::uint64_t* bits, std::size_t size, std::uint32_t first,
                        std::uint32_t* places) noexcept {
  return HWY_DYNAMIC_DISPATCH(keep_places)(bits, size, first, places);
}

std::size_t keep_marked(std::span<const float> v, const std::uint64_t* bits, std::uint32_t first,
                        kept_end to) noexcept {
  return HWY_DYNAMIC_DISPATCH(keep_marked)(v, bits, first, to);
}

std::size_t keep_large(std::span<const float> v, const std::uint32_t* words, float level, std::uint32_t first,
                       kept_end to) noexcept {
  return HWY_DYNAMIC_DISPATCH(keep_large)(v, words, level, first, to);
}

parted part_magnitudes(std::span<const float> v, double level) noexcept {
  return HWY_DYNAMIC_DISPATCH(part_all)(v, level);
}

} // namespace gossamer::compress::detail
#endif
