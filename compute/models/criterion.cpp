#include "gossamer/compute/models/detail/criterion.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::compute::detail {

namespace {

verdict judge_squared_error(std::span<float> z, float target) {
  const double difference = static_cast<double>(z[0]) - static_cast<double>(target);
  z[0] = static_cast<float>(difference);
  return {0.5 * difference * difference, false};
}

verdict judge_log_loss(std::span<float> z, float target) {
  const double y = target == 0 ? -1 : 1;
  const double margin = y * static_cast<double>(z[0]);
  // the argument of exp is never positive, so it cannot overflow
  const double small = std::exp(-std::fabs(margin));
  const double wrong = (margin > 0 ? small : 1) / (1 + small);
  z[0] = static_cast<float>(-y * wrong);
  return {std::log1p(small) - std::min(margin, 0.0), margin > 0 || (margin == 0 && y < 0)};
}

verdict judge_cross_entropy(std::span<float> z, float target) {
  const auto label = static_cast<std::size_t>(target);
  GOSSAMER_ASSERT(label < z.size(), "a label is less than the number of classes");
  const auto largest = std::ranges::max_element(z);
  const bool leads = largest - z.begin() == static_cast<std::ptrdiff_t>(label);
  const float top = *largest;
  const double lead = static_cast<double>(top) - static_cast<double>(z[label]);
  double sum = 0;
  for (float& value : z) {
    value = std::exp(value - top);
    sum += static_cast<double>(value);
  }
  const auto share = static_cast<float>(1 / sum);
  for (float& value : z)
    value *= share;
  z[label] -= 1;
  const double loss = std::log(sum) + lead;
  return {loss, leads && loss < std::numeric_limits<double>::infinity()}; // outputs that are no numbers are not right
}

} // namespace

verdict judge(criterion c, std::span<float> z, float target) {
  switch (c) {
  case criterion::squared_error:
    return judge_squared_error(z, target);
  case criterion::log_loss:
    return judge_log_loss(z, target);
  default:
    return judge_cross_entropy(z, target);
  }
}

} // namespace gossamer::compute::detail
