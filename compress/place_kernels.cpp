// The inner loops of codecs that keep some elements, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/place_kernels.cpp"
#include "gossamer/compress/detail/place_kernels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <functional>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "gossamer/compress/detail/mask_at.inl"

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

std::size_t keep_places(const std::uint64_t* bits, std::size_t size, std::uint32_t first, std::uint32_t* places) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bits);
  std::size_t kept = 0;
  const auto keep = [&](auto d, std::size_t i) HWY_ATTR {
    const auto mask = mask_at(d, bytes, i);
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
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bits);
  return keep(v, first, to, [=](auto d, auto, std::size_t i) HWY_ATTR { return mask_at(d, bytes, i); });
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

/// The bits of a float without its sign: they order as the magnitudes do.
template <class D>
HWY_INLINE hn::Vec<D> magnitudes(D d, const float* v) {
  return hn::And(hn::BitCast(d, hn::LoadU(hn::RebindToFloat<D>{}, v)), hn::Set(d, 0x7FFFFFFFu));
}

/// Which keys are at least this one. Numbers with a sign, which no key has, are the ones that all processors compare.
template <class D>
HWY_INLINE hn::Mask<D> reach(D d, hn::Vec<D> keys, std::uint32_t least) {
  const hn::RebindToSigned<D> di;
  return hn::RebindMask(d, hn::Gt(hn::BitCast(di, keys), hn::Set(di, static_cast<std::int32_t>(least) - 1)));
}

std::size_t keep_at_least(std::span<const float> v, std::uint32_t least, std::uint32_t* places) {
  std::size_t kept = 0;
  const auto keep = [&](auto d, std::size_t i) HWY_ATTR {
    const auto mask = reach(d, magnitudes(d, v.data() + i), least);
    append(d, places_from(d, i), mask, places + kept);
    kept += hn::CountTrue(d, mask);
  };
  for_each_register(v.size(), keep);
  return kept;
}

void find_maxima(std::span<const float> v, std::span<std::uint32_t> maxima) {
  std::ranges::fill(maxima, 0u);
  for (; !v.empty(); v = v.subspan(std::min(maxima.size(), v.size()))) {
    const auto raise = [&](auto d, std::size_t i) HWY_ATTR {
      hn::StoreU(hn::Max(magnitudes(d, v.data() + i), hn::LoadU(d, maxima.data() + i)), d, maxima.data() + i);
    };
    for_each_register(std::min(maxima.size(), v.size()), raise);
  }
}

std::size_t count_at_least(std::span<const std::uint32_t> keys, std::uint32_t least) {
  std::size_t count = 0;
  const auto add = [&](auto d, std::size_t i)
                       HWY_ATTR { count += hn::CountTrue(d, reach(d, hn::LoadU(d, keys.data() + i), least)); };
  for_each_register(keys.size(), add);
  return count;
}

std::uint32_t cut(std::span<const std::uint32_t> keys, std::size_t least, std::size_t most) {
  std::uint32_t low = ~0u, high = 0;
  for (const auto key : keys) {
    low = std::min(low, key);
    high = std::max(high, key);
  }
  auto count = keys.size(); // from `low` on
  while (low < high && count > most) {
    const auto middle = high - (high - low) / 2;
    const auto from_middle = count_at_least(keys, middle);
    if (from_middle >= least) {
      low = middle;
      count = from_middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Each key goes behind those that are larger; equal ones go to one place, and fill the gap that they leave.
void sort_by_rank(std::span<const std::uint32_t> keys, std::uint32_t* descending) {
  std::uint32_t ranks[most_ranked];
  const auto rank = [&](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const auto key = hn::LoadU(di, reinterpret_cast<const std::int32_t*>(keys.data()) + i);
    auto larger = hn::Zero(di);
    for (const auto other : keys)
      larger = hn::Sub(larger, hn::VecFromMask(di, hn::Gt(hn::Set(di, static_cast<std::int32_t>(other)), key)));
    hn::StoreU(hn::BitCast(d, larger), d, ranks + i);
  };
  for_each_register(keys.size(), rank);
  std::fill_n(descending, keys.size(), ~0u);
  for (std::size_t i = 0; i < keys.size(); ++i)
    descending[ranks[i]] = keys[i];
  for (std::size_t i = 1; i < keys.size(); ++i)
    descending[i] = std::min(descending[i], descending[i - 1]);
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
HWY_EXPORT(keep_at_least);
HWY_EXPORT(find_maxima);
HWY_EXPORT(cut);
HWY_EXPORT(sort_by_rank);
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

std::size_t keep_at_least(std::span<const float> v, std::uint32_t least, std::uint32_t* places) noexcept {
  return HWY_DYNAMIC_DISPATCH(keep_at_least)(v, least, places);
}

void find_maxima(std::span<const float> v, std::span<std::uint32_t> maxima) noexcept {
  HWY_DYNAMIC_DISPATCH(find_maxima)(v, maxima);
}

std::uint32_t cut(std::span<const std::uint32_t> keys, std::size_t least, std::size_t most) noexcept {
  return HWY_DYNAMIC_DISPATCH(cut)(keys, least, most);
}

void sort_descending(std::span<const std::uint32_t> keys, std::uint32_t* descending) noexcept {
  if (keys.size() <= most_ranked)
    return HWY_DYNAMIC_DISPATCH(sort_by_rank)(keys, descending);
  std::ranges::copy(keys, descending);
  std::sort(descending, descending + keys.size(), std::greater{});
}

parted part_magnitudes(std::span<const float> v, double level) noexcept {
  return HWY_DYNAMIC_DISPATCH(part_all)(v, level);
}

} // namespace gossamer::compress::detail
#endif
