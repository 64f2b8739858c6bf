// The loops behind vec, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/base/vec_kernels.cpp"
#include "gossamer/base/vec.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace gossamer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls `whole(i)` for every full register of elements from i, and `single(i)` for those that are left.
template <class Whole, class Single>
void for_each(std::size_t size, std::size_t lanes, Whole whole, Single single) {
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes)
    whole(i);
  for (; i < size; ++i)
    single(i);
}

void add(float* y, const float* x, std::size_t size) {
  const hn::ScalableTag<float> d;
  for_each(
      size, hn::Lanes(d),
      [&](std::size_t i) { hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i); },
      [&](std::size_t i) { y[i] += x[i]; });
}

void subtract(float* y, const float* x, std::size_t size) {
  const hn::ScalableTag<float> d;
  for_each(
      size, hn::Lanes(d),
      [&](std::size_t i) { hn::StoreU(hn::Sub(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i); },
      [&](std::size_t i) { y[i] -= x[i]; });
}

void add_scaled(float* y, float a, const float* x, std::size_t size) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, a);
  for_each(
      size, hn::Lanes(d),
      [&](std::size_t i) { // a product and a sum, not a fused one: see gossamer_options
        hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::Mul(factor, hn::LoadU(d, x + i))), d, y + i);
      },
      [&](std::size_t i) { y[i] += a * x[i]; });
}

void assign_scaled(float* y, float a, const float* x, std::size_t size) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, a);
  for_each(
      size, hn::Lanes(d), [&](std::size_t i) { hn::StoreU(hn::Mul(factor, hn::LoadU(d, x + i)), d, y + i); },
      [&](std::size_t i) { y[i] = a * x[i]; });
}

float max_magnitude(const float* x, std::size_t size) {
  const hn::ScalableTag<float> d;
  auto largest = hn::Zero(d);
  auto is_nan = hn::IsNaN(largest);
  float rest = 0;
  bool rest_is_nan = false;
  for_each(
      size, hn::Lanes(d),
      [&](std::size_t i) {
        const auto v = hn::LoadU(d, x + i);
        largest = hn::Max(hn::Abs(v), largest);
        is_nan = hn::Or(is_nan, hn::IsNaN(v));
      },
      [&](std::size_t i) {
        rest = std::fmax(rest, std::fabs(x[i]));
        rest_is_nan |= std::isnan(x[i]);
      });
  if (rest_is_nan || !hn::AllFalse(d, is_nan))
    return std::numeric_limits<float>::quiet_NaN();
  return std::fmax(rest, hn::GetLane(hn::MaxOfLanes(d, largest)));
}

} // namespace HWY_NAMESPACE
} // namespace gossamer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer {

HWY_EXPORT(add);
HWY_EXPORT(subtract);
HWY_EXPORT(add_scaled);
HWY_EXPORT(assign_scaled);
HWY_EXPORT(max_magnitude);

void add(std::span<float> y, std::span<const float> x) noexcept {
  HWY_DYNAMIC_DISPATCH(add)(y.data(), x.data(), y.size());
}

void subtract(std::span<float> y, std::span<const float> x) noexcept {
  HWY_DYNAMIC_DISPATCH(subtract)(y.data(), x.data(), y.size());
}

void add_scaled(std::span<float> y, float a, std::span<const float> x) noexcept {
  HWY_DYNAMIC_DISPATCH(add_scaled)(y.data(), a, x.data(), y.size());
}

void assign_scaled(std::span<float> y, float a, std::span<const float> x) noexcept {
  HWY_DYNAMIC_DISPATCH(assign_scaled)(y.data(), a, x.data(), y.size());
}

float max_magnitude(std::span<const float> x) noexcept {
  return HWY_DYNAMIC_DISPATCH(max_magnitude)(x.data(), x.size());
}

namespace {

/// The sum of f(i), in eight partial sums at once: an addition waits for the one before. The same order everywhere.
template <class Function>
double sum_over(std::size_t size, Function f) noexcept {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j)
      sums[j] += f(i + j);
  for (std::size_t j = 0; i + j < size; ++j)
    sums[j] += f(i + j);
  double total = 0;
  for (const double sum : sums)
    total += sum;
  return total;
}

} // namespace

double squared_distance(std::span<const float> x, std::span<const float> y) noexcept {
  return sum_over(x.size(), [&](std::size_t i) {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    return difference * difference;
  });
}

double sum_of_squares(std::span<const float> x) noexcept {
  return sum_over(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

double sum_of_magnitudes(std::span<const float> x) noexcept {
  return sum_over(x.size(), [&](std::size_t i) { return std::fabs(static_cast<double>(x[i])); });
}

} // namespace gossamer
#endif
