// The loops behind vec, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/base/vec_kernels.cpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/base/work.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace gossamer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls `whole(i)` for every full register of elements from i, and `single(i)` for the rest.
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

float assign_difference(float* y, const float* a, const float* b, std::size_t size) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> bits;
  auto largest = hn::Zero(bits); // magnitudes are ordered as their bits, and NaN comes last
  std::int32_t rest = 0;
  for_each(
      size, hn::Lanes(d),
      [&](std::size_t i) {
        const auto v = hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
        hn::StoreU(v, d, y + i);
        largest = hn::Max(largest, hn::BitCast(bits, hn::Abs(v)));
      },
      [&](std::size_t i) {
        y[i] = a[i] - b[i];
        rest = std::max(rest, std::bit_cast<std::int32_t>(std::fabs(y[i])));
      });
  return std::bit_cast<float>(std::max(rest, hn::GetLane(hn::MaxOfLanes(bits, largest))));
}

/// Adds up numbers in the order that vec.hpp defines: fast on processors and on GPUs, and the same everywhere.
constexpr std::size_t lanes = 128;
constexpr std::size_t block = 32 * lanes;

/// Adds the upper half of `count` partial sums, a power of two, to the lower half, until one is left.
double fold(double* sums, std::size_t count) noexcept {
  for (std::size_t half = count / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j)
      sums[j] += sums[j + half];
  return sums[0];
}

/// The sum of so few terms that each partial sum is a term or 0. Sums of 0 change nothing, and are left out.
template <class Function>
double sum_of_few(std::size_t begin, std::size_t end, Function f) noexcept {
  double sums[lanes];
  const auto size = end - begin, count = std::bit_ceil(size);
  for (std::size_t j = 0; j < count; ++j)
    sums[j] = j < size ? f(begin + j) : 0;
  return fold(sums, count);
}

/// The sum of at most one block of f(i) >= 0.
template <class Function>
double sum_of_block(std::size_t begin, std::size_t end, Function f) noexcept {
  if (end - begin <= lanes)
    return sum_of_few(begin, end, f);
  double sums[lanes] = {};
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j)
      sums[j] += f(i + j);
  for (std::size_t j = 0; i + j < end; ++j)
    sums[j] += f(i + j);
  return fold(sums, lanes);
}

/// Sums a range of terms. The terms of `level` 0 are f(i); a term of a higher level is the sum of a block of the level
/// below.
template <class Function>
double sum_of_level(int level, std::size_t begin, std::size_t end, Function f) noexcept {
  if (level == 0)
    return sum_of_block(begin, end, f);
  std::size_t below = block;
  for (int l = 1; l < level; ++l)
    below *= block;
  return sum_of_block(0, (end - begin + below - 1) / below, [&](std::size_t b) HWY_ATTR {
    return sum_of_level(level - 1, begin + b * below, std::min(end, begin + (b + 1) * below), f);
  });
}

template <class Function>
double sum_over(std::size_t size, Function f) noexcept {
  int level = 0;
  for (auto blocks = size; blocks > block; blocks = (blocks + block - 1) / block)
    ++level;
  return sum_of_level(level, 0, size, f);
}

double squared_distance(const float* x, const float* y, std::size_t size) {
  return sum_over(size, [&](std::size_t i) HWY_ATTR {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    return difference * difference;
  });
}

double sum_of_squares(const float* x, std::size_t size) {
  return sum_over(size, [&](std::size_t i) HWY_ATTR { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

/// Adds the upper half of the lanes to the lower half, until one is left.
template <class D>
HWY_INLINE double fold_lanes([[maybe_unused]] D d, hn::Vec<D> sums) {
#if HWY_TARGET != HWY_SCALAR // which has one lane
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return fold_lanes(half, hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums)));
  }
#endif
  return hn::GetLane(sums);
}

/// The lanes from `first` on of `count` squares that have been folded until `left` are left. Zeros, which change no
/// sum, take the place of those from `size` on.
template <std::size_t count, std::size_t left, class D>
HWY_INLINE hn::Vec<D> folded_squares(D d, const float* x, std::size_t size, std::size_t first) {
  if constexpr (left < count) {
    return hn::Add(folded_squares<count, 2 * left>(d, x, size, first),
                   folded_squares<count, 2 * left>(d, x, size, first + left));
  } else {
    const auto terms = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>{}, x + first));
    return hn::IfThenElseZero(hn::FirstN(d, size - std::min(size, first)), hn::Mul(terms, terms));
  }
}

/// The sums of the squares of rows of at most `lanes` elements, without memory for partial sums: short rows come in
/// great numbers.
/// @param size elements from x on, those of the rows and others
template <std::size_t count = 1>
void squares_of_rows(const float* x, std::size_t size, std::size_t row, std::size_t rows, double* sums) {
  if constexpr (count < lanes)
    if (row > count)
      return squares_of_rows<2 * count>(x, size, row, rows, sums);
  const hn::CappedTag<double, count> d;
  float last[count] = {};
  for (std::size_t r = 0; r < rows; ++r, x += row, size -= row) {
    const float* from = x;
    if (size < count) // whole registers are read
      from = (std::copy_n(x, row, last), last);
    sums[r] = fold_lanes(d, folded_squares<count, hn::MaxLanes(d)>(d, from, row, 0));
  }
}

double norms_of_rows(const float* x, std::size_t size, std::size_t row, float* norms) {
  constexpr auto largest = static_cast<double>(std::numeric_limits<float>::max());
  constexpr std::size_t together = 64; // rows; a square root of many numbers costs little more than one
  const hn::CappedTag<double, together> d;
  const hn::Rebind<float, decltype(d)> df;
  auto all = hn::Zero(d);
  double sums[together];
  float rounded[together];
  while (size > 0) {
    row = std::min(row, size);
    const auto rows = std::min(together, size / row);
    if (row <= lanes)
      squares_of_rows(x, size, row, rows, sums);
    else
      for (std::size_t r = 0; r < rows; ++r)
        sums[r] = sum_of_squares(x + r * row, row);
    std::fill(sums + rows, sums + together, 0.0);
    for (std::size_t r = 0; r < rows; r += hn::Lanes(d)) {
      const auto sum = hn::LoadU(d, sums + r);
      const auto norm = hn::Min(hn::Sqrt(sum), hn::Set(d, largest));
      all = hn::Add(all, sum);
      hn::StoreU(hn::DemoteTo(df, norm), df, rounded + r);
    }
    norms = std::copy_n(rounded, rows, norms);
    x += rows * row;
    size -= rows * row;
  }
  return hn::GetLane(hn::SumOfLanes(d, all));
}

double sum_of_magnitudes(const float* x, std::size_t size) {
  return sum_over(size, [&](std::size_t i) HWY_ATTR { return std::fabs(static_cast<double>(x[i])); });
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
HWY_EXPORT(assign_difference);
HWY_EXPORT(squared_distance);
HWY_EXPORT(sum_of_squares);
HWY_EXPORT(norms_of_rows);
HWY_EXPORT(sum_of_magnitudes);

void add(std::span<float> y, std::span<const float> x) noexcept {
  count_arithmetic(3 * y.size_bytes());
  HWY_DYNAMIC_DISPATCH(add)(y.data(), x.data(), y.size());
}

void subtract(std::span<float> y, std::span<const float> x) noexcept {
  count_arithmetic(3 * y.size_bytes());
  HWY_DYNAMIC_DISPATCH(subtract)(y.data(), x.data(), y.size());
}

void add_scaled(std::span<float> y, float a, std::span<const float> x) noexcept {
  count_arithmetic(3 * y.size_bytes());
  HWY_DYNAMIC_DISPATCH(add_scaled)(y.data(), a, x.data(), y.size());
}

void assign_scaled(std::span<float> y, float a, std::span<const float> x) noexcept {
  count_arithmetic(2 * y.size_bytes());
  HWY_DYNAMIC_DISPATCH(assign_scaled)(y.data(), a, x.data(), y.size());
}

float max_magnitude(std::span<const float> x) noexcept {
  count_arithmetic(x.size_bytes());
  return HWY_DYNAMIC_DISPATCH(max_magnitude)(x.data(), x.size());
}

float assign_difference(std::span<float> y, std::span<const float> a, std::span<const float> b) noexcept {
  count_arithmetic(3 * y.size_bytes());
  return HWY_DYNAMIC_DISPATCH(assign_difference)(y.data(), a.data(), b.data(), y.size());
}

double squared_distance(std::span<const float> x, std::span<const float> y) noexcept {
  count_arithmetic(2 * x.size_bytes());
  return HWY_DYNAMIC_DISPATCH(squared_distance)(x.data(), y.data(), x.size());
}

double sum_of_squares(std::span<const float> x) noexcept {
  count_arithmetic(x.size_bytes());
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(x.data(), x.size());
}

double norms_of_rows(std::span<const float> x, std::size_t row, std::span<float> norms) noexcept {
  count_arithmetic(x.size_bytes());
  return HWY_DYNAMIC_DISPATCH(norms_of_rows)(x.data(), x.size(), row, norms.data());
}

double sum_of_magnitudes(std::span<const float> x) noexcept {
  count_arithmetic(x.size_bytes());
  return HWY_DYNAMIC_DISPATCH(sum_of_magnitudes)(x.data(), x.size());
}

} // namespace gossamer
#endif
