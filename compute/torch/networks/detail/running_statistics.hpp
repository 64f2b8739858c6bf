#pragma once

#include "gossamer/compute/torch/networks/detail/module.hpp"

namespace gossamer::compute::libtorch {

/// The buffers of a module that follow the statistics of minibatches in training, b <- (1 - m) b + m s, as those of
/// batch normalisation do, in modules of any author. The first minibatch tells which buffers do, and their m.
///
/// Their values belong to one point x and to no other: not to a mean of models, nor to one that has been compressed. So
/// they are not trained, but taken from some minibatches whenever a point is evaluated: b = mean of s. Only the
/// submodules that hold these buffers are in training meanwhile: what they see is what they see in evaluation, where
/// nothing drops out, and is the same at every time. A module that cannot follow like that, because it asks itself
/// whether it is in training, is in training as a whole.
class running_statistics {
public:
  /// @param m lives as long as this
  explicit running_statistics(module& m);

  bool empty() const { return followers_.empty(); }
  void forget() { shown_ = 0; }
  /// Leaves the buffers that do not follow as they were. @param run computes the minibatch with the module
  void show(const std::function<void()>& run);
  /// Puts the means into the buffers. If no minibatch was shown, they stay as they are.
  void settle();

private:
  struct statistic {
    std::string name;
    ::torch::Tensor buffer, mean = {};
    double share = 0; ///< m; 0: the buffer does not follow
  };
  void find_shares(const std::function<void()>& run);
  std::vector<double> shares(const std::function<void()>& run);
  void run_from(double start, const std::function<void()>& run);

  module& module_;
  std::vector<statistic> followers_; ///< before the first minibatch, all that may be
  std::vector<::torch::Tensor> others_;
  std::set<std::string> owners_; ///< submodules that hold followers
  bool owners_suffice_ = false;
  std::int64_t shown_ = 0;
  bool shares_are_known_ = false;
};

} // namespace gossamer::compute::libtorch
