#pragma once

#include "gossamer/compute/torch/networks/detail/module.hpp"

namespace gossamer::compute::libtorch {

/// The buffers of a module that follow the statistics of minibatches in training, b <- (1 - m) b + m s, as those of
/// batch normalisation do, in modules of any author. The first minibatch tells which buffers do, and their m.
///
/// Their values belong to one point x and to no other: not to a mean of models, nor to one that has been compressed. So
/// they are not trained, but taken from some minibatches whenever a point is evaluated: b = mean of s.
class running_statistics {
public:
  explicit running_statistics(const module& m);

  bool empty() const { return all_.empty(); }
  void forget() { shown_ = 0; }
  /// @param run computes the minibatch with the module in training
  void show(const std::function<void()>& run);
  /// Puts the means into the buffers. If no minibatch was shown, they stay as they are.
  void settle();

private:
  struct statistic {
    ::torch::Tensor buffer, mean = {};
    double share = 0; ///< m; 0: the buffer does not follow
  };
  void find_shares(const std::function<void()>& run);

  std::vector<statistic> all_;
  std::int64_t shown_ = 0;
  bool shares_are_known_ = false;
};

} // namespace gossamer::compute::libtorch
