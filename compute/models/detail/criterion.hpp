#pragma once

#include <span>

namespace gossamer::compute::detail {

/// How one sample came off.
struct verdict {
  double loss;
  bool right; ///< classified rightly; false for regression
};

/// Compares a network's outputs z for one sample with its target, and turns z into d loss / d z.
/// Cost O(outputs). Threads: safe.
struct criterion {
  verdict (*judge)(std::span<float> z, float target);
  bool classifies;
};

extern const criterion squared_error; ///< (z - y)^2 / 2; one output
extern const criterion log_loss;      ///< log(1 + exp(-y z)), where class 0 is y = -1 and class 1 is y = 1; one output
extern const criterion cross_entropy; ///< log(sum_k exp(z_k)) - z_class; an output per class

} // namespace gossamer::compute::detail
