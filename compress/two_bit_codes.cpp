#include "gossamer/compress/detail/two_bit_codes.hpp"

#include "gossamer/compress/detail/place_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace gossamer::compress::detail {
namespace {

/// The least of the upper magnitudes of the best split, which leaves most of sum |v|^2 in the means:
/// n_lower mean_lower^2 + n_upper mean_upper^2. Among equal magnitudes that sum is convex, so it is largest at an end.
float best_split(std::span<const float> values) {
  std::vector<std::uint32_t> keys(values.size()), descending(values.size());
  std::ranges::transform(values, keys.begin(), [](float x) { return std::bit_cast<std::uint32_t>(std::fabs(x)); });
  sort_descending(keys, descending.data());
  std::vector<double> sums(values.size()); // of the largest ones
  double total = 0, n = 0, most = -1;
  std::ranges::transform(descending, sums.begin(),
                         [&](auto key) { return total += static_cast<double>(std::bit_cast<float>(key)); });
  std::uint32_t split = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double upper = sums[i], lower = total - upper, others = static_cast<double>(sums.size()) - ++n;
    const double kept = upper * upper / n + lower * lower / std::max(others, 1.0); // lower is 0 where no others are
    if (kept > most && (i + 1 == sums.size() || descending[i + 1] != descending[i])) {
      most = kept;
      split = descending[i];
    }
  }
  return std::bit_cast<float>(split);
}

/// The mean of the numbers of each kind; 0 where there are none.
four_levels means_of_kinds(std::span<const float> values, auto number_of, auto kind_of) {
  std::array<double, 4> sums{};
  std::array<double, 4> counts{};
  constexpr double ones[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (std::size_t i = 0; i < values.size(); ++i) // a branch for each would be guessed wrong; 0 changes no sum
    for (std::size_t kind = 0; kind < sums.size(); ++kind) {
      const double one = ones[kind_of(i)][kind];
      sums[kind] += one * static_cast<double>(number_of(values[i]));
      counts[kind] += one;
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
