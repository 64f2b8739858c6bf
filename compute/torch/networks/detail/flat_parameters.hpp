#pragma once

#include "gossamer/compute/torch/detail/network.hpp"

#include <torch/torch.h>

namespace gossamer::compute::libtorch {

using named_tensors = std::vector<std::pair<std::string, ::torch::Tensor>>;

/// Moves the parameters of a module into one block of memory and their gradients into another, of which they are views
/// from then on: a step of SGD is one copy in and one copy out, however many tensors there are.
class flat_parameters {
public:
  /// @param parameters tensors of 32-bit floats
  explicit flat_parameters(const named_tensors& parameters);

  /// Begins a gradient at x.
  void set(std::span<const float> x);
  void clear_gradient() { gradient_.zero_(); }
  void copy_gradient(std::span<float> to) const;
  std::size_t size() const { return static_cast<std::size_t>(values_.numel()); }

private:
  ::torch::Tensor values_, gradient_;
};

} // namespace gossamer::compute::libtorch
