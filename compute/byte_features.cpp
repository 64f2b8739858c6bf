// The values of bytes, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compute/byte_features.cpp"
#include "gossamer/compute/byte_features.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compute {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// @param more what is done to byte / divisor
template <class More>
void divide(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out, More more) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  std::size_t k = 0;
  for (; k + hn::Lanes(d) <= bytes.size(); k += hn::Lanes(d)) {
    const auto numbers = hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(narrow, bytes.data() + k)));
    hn::StoreU(more(d, hn::Div(numbers, hn::Set(d, scale.divisor))), d, out.data() + k);
  }
  for (; k < bytes.size(); ++k)
    out[k] = scale(bytes[k]);
}

void scale_all(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out) {
  if (scale.mean == 0 && scale.deviation == 1) // which change nothing: a division is most of the work
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
