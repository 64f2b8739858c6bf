#include "gossamer/actors/run/default_lr.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace gossamer::actors {

namespace {

constexpr double most_times_square_norm = 800;
constexpr std::size_t samples_read = 1024;

double square_norm(std::span<const float> values) {
  double sum = 0;
  for (const double v : values)
    sum += v * v;
  return sum;
}

/// Returns the mean of ||x||^2 over samples that are spread evenly.
double mean_square_norm(const compute::dataset& data) {
  const auto count = std::min(data.samples, samples_read);
  std::vector<float> row(data.sparse() ? 0 : data.features);
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto i = k * data.samples / count;
    if (!data.sparse())
      data.copy_row(i, row);
    sum += square_norm(data.sparse() ? data.row(i).values : row);
  }
  return sum / static_cast<double>(count);
}

double with_two_digits(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return unit < 1 ? std::round(x / unit) / std::round(1 / unit) : std::round(x / unit) * unit;
}

} // namespace

double default_lr(const algorithm_traits& traits, std::string_view optimiser, const compute::dataset& train,
                  std::size_t workers, const registry<compute::optimiser_entry>& known) {
  if (traits.default_lr)
    return *traits.default_lr;
  const double alone = compute::suggested_lr(optimiser, known);
  const bool has_features = train.sparse() || !train.dense.empty() || !train.bytes.empty();
  if (workers == 1 || !traits.lr_grows || train.classes == 0 || !has_features)
    return alone;
  const double times = std::min(static_cast<double>(workers), most_times_square_norm / mean_square_norm(train));
  return times > 1 ? with_two_digits(alone * times) : alone;
}

} // namespace gossamer::actors
