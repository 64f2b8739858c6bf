#include "gossamer/compress/detail/norm_levels.hpp"

#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

constexpr std::size_t few = 128; // as many partial sums has `sum_of_squares`

/// The same bits as `sum_of_squares`: with so few terms, each partial sum is a term or 0.
double sum_of_few_squares(std::span<const float> v) noexcept {
  std::array<double, few> sums;
  auto count = std::bit_ceil(v.size());
  for (std::size_t i = 0; i < count; ++i)
    sums[i] = i < v.size() ? static_cast<double>(v[i]) * static_cast<double>(v[i]) : 0;
  while (count > 1) {
    count /= 2;
    for (std::size_t j = 0; j < count; ++j)
      sums[j] += sums[j + count];
  }
  return sums[0];
}

} // namespace

float read_norm(const std::byte* in, int levels) {
  float norm;
  std::memcpy(&norm, in, sizeof norm);
  const bool zero = std::bit_cast<std::uint32_t>(norm) == 0;
  if (!zero && !(std::isfinite(norm) && norm > 0 && sendable_norm(norm, levels) == norm))
    throw bad_packet(fmt::format("packet has the norm {}; it must be 0 or finite and at least 2^-126 a level", norm));
  return norm;
}

float l2_norm(std::span<const float> v) noexcept {
  const double sum = v.size() <= few ? sum_of_few_squares(v) : sum_of_squares(v);
  return static_cast<float>(std::min(std::sqrt(sum), static_cast<double>(largest_float)));
}

} // namespace gossamer::compress::detail
