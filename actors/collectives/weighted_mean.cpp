#include "gossamer/actors/collectives/weighted_mean.hpp"

#include <cmath>
#include <limits>

namespace gossamer::actors {

namespace {

/// The reciprocal of a shorter length need not be a float.
constexpr double shortest = std::numeric_limits<float>::min();

double sum_of_weights(std::span<const weighted> all) {
  double sum = 0;
  for (const auto& one : all)
    sum += one.weight;
  return sum;
}

double length(std::span<const float> v) { return std::sqrt(sum_of_squares(v)); }

/// @param result the mean of `all` at first
void average_directions(std::span<const weighted> all, double total, segment tensor, vec& result) {
  auto pool = result.pool();
  vec direction{pool, tensor.size};
  const auto sum = direction.mutate();
  double radius = 0;
  for (const auto& [v, weight] : all) {
    const auto part = tensor.of(v);
    const double norm = length(part);
    radius += weight / total * norm;
    if (norm >= shortest)
      add_scaled(sum, static_cast<float>(weight / total / norm), part);
  }
  if (const double norm = length(sum); norm >= 1e-12)
    assign_scaled(tensor.of(result), static_cast<float>(radius / norm), sum);
}

} // namespace

double contribution_weight(std::uint64_t samples, std::uint64_t steps) noexcept {
  const auto quantity = static_cast<double>(samples);
  return samples == 0 ? 0 : quantity * quantity / static_cast<double>(steps);
}

vec weighted_mean(std::span<const weighted> all) {
  const double largest = std::ranges::max(all, {}, &weighted::weight).weight; // equal weights become 1 exactly
  vec sum = zeros_like(all.front().v);
  double total = 0;
  for (const auto& [v, weight] : all) {
    sum += static_cast<float>(weight / largest) * v;
    total += weight / largest;
  }
  sum *= 1 / static_cast<float>(total);
  return sum;
}

vec radial_directional_mean(std::span<const weighted> all, std::span<const segment> tensors) {
  vec result = weighted_mean(all);
  const double total = sum_of_weights(all);
  for (const auto& tensor : tensors)
    average_directions(all, total, tensor, result);
  return result;
}

std::vector<segment> tensors_within(std::span<const tensor_shape> tensors, segment place) {
  if (tensors.empty())
    return {segment{0, place.size}};
  std::vector<segment> result;
  std::size_t begin = 0;
  for (const auto& tensor : tensors) {
    const auto from = std::max(begin, place.begin);
    begin += tensor.size();
    const auto to = std::min(begin, place.begin + place.size);
    if (from < to)
      result.push_back({from - place.begin, to - from});
  }
  return result;
}

} // namespace gossamer::actors
