#include "gossamer/compress/detail/two_bit_codes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace gossamer::compress::detail {
namespace {

/// The least of the upper magnitudes of the best split, which leaves most of sum |v|^2 in the means:
/// n_lower mean_lower^2 + n_upper mean_upper^2. Among equal magnitudes that sum is convex, so it is largest at an end.
float best_split(std::span<const float> values) {
  std::vector<float> descending(values.size());
  double total = 0, upper = 0, most = -1;
  std::ranges::transform(values, descending.begin(), [](float x) { return std::fabs(x); });
  std::ranges::sort(descending, std::greater{});
  for (const float x : descending)
    total += static_cast<double>(x);
  float split = 0;
  for (std::size_t n = 1; n <= descending.size(); ++n) {
    const float x = descending[n - 1];
    upper += static_cast<double>(x);
    if (n < descending.size() && descending[n] == x)
      continue;
    const auto others = static_cast<double>(descending.size() - n);
    const double kept =
        upper * upper / static_cast<double>(n) + (others == 0 ? 0 : (total - upper) * (total - upper) / others);
    if (kept > most) {
      most = kept;
      split = x;
    }
  }
  return split;
}

/// The mean of the numbers of each kind; 0 where there are none.
four_levels means_of_kinds(std::span<const float> values, auto number_of, auto kind_of) {
  std::array<double, 4> sums{};
  std::array<double, 4> counts{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto kind = kind_of(i);
    sums[kind] += static_cast<double>(number_of(values[i]));
    ++counts[kind];
  }
  four_levels means{};
  for (std::size_t kind = 0; kind < means.size(); ++kind)
    if (counts[kind] > 0)
      means[kind] = static_cast<float>(sums[kind] / counts[kind]);
  return means;
}

} // namespace

four_levels symmetric_codes(std::span<const float> values, std::span<std::uint8_t> codes) {
  const float split = best_split(values);
  std::ranges::transform(values, codes.begin(), [split](float x) {
    return static_cast<std::uint8_t>((std::fabs(x) >= split ? 1 : 0) + (x < 0 ? 2 : 0));
  });
  const auto magnitudes = means_of_kinds(
      values, [](float x) { return std::fabs(x); }, [codes](std::size_t i) { return codes[i] & 1u; });
  return {magnitudes[0], magnitudes[1], -magnitudes[0], -magnitudes[1]};
}

four_levels statistical_codes(std::span<const float> values, std::span<std::uint8_t> codes) {
  double mean = 0, squares = 0;
  for (const float x : values)
    mean += static_cast<double>(x);
  mean /= static_cast<double>(values.size());
  for (const float x : values)
    squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  const double part = values.size() == 1 ? 0 : 1.5 * std::sqrt(squares / static_cast<double>(values.size() - 1));
  std::ranges::transform(values, codes.begin(), [mean, part](float x) {
    const double place = part > 0 ? (static_cast<double>(x) - mean) / part : 0;
    return static_cast<std::uint8_t>(std::clamp(std::nearbyint(place + 2), 0.0, 3.0));
  });
  return means_of_kinds(
      values, [](float x) { return x; }, [codes](std::size_t i) { return codes[i]; });
}

} // namespace gossamer::compress::detail
