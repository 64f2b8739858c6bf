#pragma once

#include "gossamer/base/vec.hpp"

#include <cmath>
#include <cstdint>

namespace gossamer::actors {

/// The mean of some models, and their distance from it.
struct partial_mean {
  vec mean;
  std::uint64_t models = 1;
  double spread = 0; ///< sum_i ||x_i - mean||^2

  /// sqrt((1/n) sum_i ||x_i - mean||^2)
  double distance() const { return std::sqrt(spread / static_cast<double>(models)); }
};

/// Returns the mean of the models of both. With d = b - a and n = n_a + n_b:
///
///     mean = a + d n_b / n,  spread = spread_a + spread_b + |d|^2 n_a n_b / n
///
/// (Chan, Golub and LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983.) Equal
/// models have a spread of exactly 0. The last bits depend on which of the two is a. O(size), without new memory where
/// the vectors are not shared.
inline partial_mean merge(partial_mean a, partial_mean b) {
  const auto models = a.models + b.models;
  const auto share_of_b = static_cast<double>(b.models) / static_cast<double>(models);
  auto& difference = b.mean -= a.mean;
  a.spread += b.spread + sum_of_squares(difference.view()) * static_cast<double>(a.models) * share_of_b;
  a.mean += static_cast<float>(share_of_b) * difference;
  a.models = models;
  return a;
}

} // namespace gossamer::actors
