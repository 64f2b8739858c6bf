#pragma once

#include <span>

namespace gossamer::compute::detail {

/// The result of one sample.
struct verdict {
  double loss;
  bool right; ///< true if classified rightly; false for regression
};

/// The loss of a network's outputs z for one sample with target y.
enum class criterion {
  squared_error, ///< (z - y)^2 / 2; one output
  log_loss,      ///< log(1 + exp(-y z)), where class 0 is y = -1 and class 1 is y = 1; one output
  cross_entropy, ///< log(sum_k exp(z_k)) - z_class; an output per class
};

constexpr bool classifies(criterion c) noexcept { return c != criterion::squared_error; }

/// Compares z with the target, and turns z into d loss / d z. Cost O(outputs). Threads: safe.
verdict judge(criterion c, std::span<float> z, float target);

} // namespace gossamer::compute::detail
