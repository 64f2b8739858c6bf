// Rounding to levels at any distances, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/uneven_levels.cpp"
#include "gossamer/compress/detail/uneven_levels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Codes of one register of elements. Each is compared with all levels: of a few that is faster than a search.
template <class D>
HWY_INLINE void round_register(D d, const uneven_levels& levels, const float* v, const std::uint32_t* words,
                               std::uint8_t* codes) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint8_t, D> dc;
  const auto x = hn::LoadU(d, v);
  auto below = hn::Zero(di);
  auto half = hn::Set(d, levels.halves[0]), gap = hn::Set(d, levels.gaps[0]);
  for (std::size_t j = 1; j < levels.values.size(); ++j) {
    const auto reaches = hn::Ge(x, hn::Set(d, levels.values[j]));
    below = hn::Sub(below, hn::BitCast(di, hn::VecFromMask(d, reaches))); // of a true mask it is -1
    half = hn::IfThenElse(reaches, hn::Set(d, levels.halves[j]), half);
    gap = hn::IfThenElse(reaches, hn::Set(d, levels.gaps[j]), gap);
  }
  const auto share = hn::Div(hn::Sub(hn::Mul(x, hn::Set(d, 0.5f)), half), gap); // at the last level 0
  const auto word = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, words)));
  const auto u = hn::Mul(hn::ConvertTo(d, word), hn::Set(d, 0x1p-24f));
  const auto code = hn::Sub(below, hn::BitCast(di, hn::VecFromMask(d, hn::Lt(u, share))));
  hn::StoreU(hn::TruncateTo(dc, hn::BitCast(du, code)), dc, codes);
}

/// Rounds whole registers, and the elements behind them one by one.
void round_all(const uneven_levels& levels, std::span<const float> v, const std::uint32_t* words, std::uint8_t* codes) {
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= v.size(); i += hn::Lanes(d))
    round_register(d, levels, v.data() + i, words + i, codes + i);
  for (; i < v.size(); ++i)
    round_register(one, levels, v.data() + i, words + i, codes + i);
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compress::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compress::detail {

namespace {

constexpr std::size_t few = 32; // levels

void round_by_search(const uneven_levels& levels, std::span<const float> v, const std::uint32_t* words,
                     std::uint8_t* codes) {
  for (std::size_t i = 0; i < v.size(); ++i) {
    const auto next = std::ranges::upper_bound(levels.values, v[i]);
    const auto below = static_cast<std::size_t>(next - levels.values.begin()) - 1;
    const float share = (v[i] * 0.5f - levels.halves[below]) / levels.gaps[below];
    const float u = static_cast<float>(words[i] >> 8) * 0x1p-24f;
    codes[i] = static_cast<std::uint8_t>(below + (u < share ? 1 : 0));
  }
}

} // namespace

uneven_levels::uneven_levels(std::vector<float> ascending) : values(std::move(ascending)), gaps(values.size(), 1) {
  for (const float value : values)
    halves.push_back(value * 0.5f);
  for (std::size_t j = 0; j + 1 < values.size(); ++j)
    gaps[j] = halves[j + 1] - halves[j];
}

HWY_EXPORT(round_all);

void round_to_levels(const uneven_levels& levels, std::span<const float> v, const std::uint32_t* words,
                     level_codes& codes) noexcept {
  auto* bytes = reinterpret_cast<std::uint8_t*>(codes.bytes);
  if (levels.values.size() <= few)
    HWY_DYNAMIC_DISPATCH(round_all)(levels, v, words, bytes);
  else
    round_by_search(levels, v, words, bytes);
}

} // namespace gossamer::compress::detail
#endif
