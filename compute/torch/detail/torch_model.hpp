#pragma once

#include "gossamer/compute/model.hpp"
#include "gossamer/compute/torch/detail/network.hpp"

namespace gossamer::compute::libtorch {

/// A network of LibTorch as a model: f(x) = mean loss + (l2 / 2) ||w||^2, where w are the tensors of two and more
/// sides.
///
/// Losses are cross entropy, or (z - y)^2 / 2 for real targets; for text, the mean over all bytes of a sample. Layers
/// that normalise by statistics use the minibatch's in training, and those of 1000 fixed samples of the training data
/// at x when x is evaluated. So the result depends on x alone, whether or not x was averaged or compressed.
/// Errors: errc::failed when LibTorch fails.
class torch_model final : public model {
public:
  /// @param train must live as long as the model and its clones
  torch_model(std::unique_ptr<network> n, const dataset& train, float l2);

  std::size_t dimension() const override { return dimension_; }
  std::vector<tensor_shape> tensors() const override;
  std::vector<std::string> tensor_names() const override;
  std::vector<std::vector<std::size_t>> tensor_sides() const override;
  std::vector<std::string> buffer_names() const override;
  std::vector<named_tensor> buffers_at(std::span<const float> x) const override;
  void initial_point(std::span<float> x, const random_stream& random) const override;
  double loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) override;
  evaluation evaluate(std::span<const float> x, const batch& samples) override;
  std::unique_ptr<model> clone() const override;

private:
  minibatch gather(const batch& samples);
  void settle_statistics(std::span<const float> x);
  template <class Work>
  void for_each_weight(Work work) const;

  std::unique_ptr<network> network_;
  const dataset& train_;
  float l2_;
  std::size_t dimension_ = 0;
  std::vector<float> inputs_, targets_; ///< those of a minibatch
  std::vector<float> picture_;          ///< that is augmented
  std::vector<float> settled_;          ///< the point whose statistics the network has
};

} // namespace gossamer::compute::libtorch
