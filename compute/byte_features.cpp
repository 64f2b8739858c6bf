// The values of bytes, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compute/byte_features.cpp"
#include "gossamer/compute/byte_features.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compute {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// byte / divisor, rounded once, by two products and a sum, for whole divisors up to `largest`. With 1 / divisor = high
/// + low, where high has 16 bits, byte * high is exact, and all other errors together are below 2^-14 of the quotient's
/// last place; a quotient by n that is not half-way between two floats is 1 / 2n of that place away from there.
struct reciprocal {
  static constexpr float largest = 4096;

  float high, low;

  explicit reciprocal(float divisor)
      : high(std::bit_cast<float>(std::bit_cast<std::uint32_t>(1 / divisor) & 0xffff'ff00)),
        low(static_cast<float>(1.0 / static_cast<double>(divisor) - static_cast<double>(high))) {}

  static bool is_of(float divisor) { return divisor >= 1 && divisor <= largest && divisor == std::floor(divisor); }
};

/// @param share byte / divisor
/// @param more what is done to it
template <class Share, class More>
void convert(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out, Share share,
             More more) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  std::size_t k = 0;
  for (; k + hn::Lanes(d) <= bytes.size(); k += hn::Lanes(d)) {
    const auto numbers = hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(narrow, bytes.data() + k)));
    hn::StoreU(more(d, share(d, numbers)), d, out.data() + k);
  }
  for (; k < bytes.size(); ++k)
    out[k] = scale(bytes[k]);
}

template <class More>
void divide(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out, More more) {
  if (!reciprocal::is_of(scale.divisor))
    return convert(
        bytes, scale, out, [&](auto d, auto byte) { return hn::Div(byte, hn::Set(d, scale.divisor)); }, more);
  const reciprocal by{scale.divisor}; // a division takes five times as long
  convert(
      bytes, scale, out,
      [by](auto d, auto byte) {
        return hn::Add(hn::Mul(byte, hn::Set(d, by.high)), hn::Mul(byte, hn::Set(d, by.low)));
      },
      more);
}

void scale_all(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out) {
  if (scale.mean == 0 && scale.deviation == 1) // which change nothing
    divide(bytes, scale, out, [](auto, auto value) { return value; });
  else
    divide(bytes, scale, out, [&](auto d, auto value) {
      return hn::Div(hn::Sub(value, hn::Set(d, scale.mean)), hn::Set(d, scale.deviation));
    });
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compute {

HWY_EXPORT(scale_all);

void scale_bytes(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(scale_all)(bytes, scale, out);
}

void byte_features::copy_sample(std::size_t first, std::span<float> out) const {
  const auto part = out.size() / scales.size();
  for (std::size_t p = 0; p < scales.size(); ++p)
    scale_bytes(all.subspan(first + p * part, part), scales[p], out.subspan(p * part, part));
}

byte_features features_in(large_vector<std::uint8_t> bytes) {
  const auto owner = std::make_shared<const large_vector<std::uint8_t>>(std::move(bytes));
  return {.all = *owner, .owner = owner, .mapped = owner->get_allocator().maps(owner->capacity())};
}

} // namespace gossamer::compute
#endif
