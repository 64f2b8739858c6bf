#pragma once

#include "gossamer/base/host_device.hpp"
#include "gossamer/compute/matrix.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/models/detail/criterion.hpp"

#include <cmath>
#include <vector>

namespace gossamer::compute::detail {

enum class activation { relu, tanh };

struct neural_network_options {
  std::vector<std::size_t> widths; ///< inputs, hidden layers, outputs
  activation hidden = activation::relu;
  criterion last = criterion::squared_error;
  float l1 = 0;
  float l2 = 0;
};

/// Returns w, moved towards 0 by the threshold, and no further.
GOSSAMER_HD inline float soft_threshold(float w, float threshold) {
  return std::fabs(w) <= threshold ? 0 : w - std::copysign(threshold, w);
}

/// Place of a layer's parameters among all.
struct layer_shape {
  std::size_t inputs;
  std::size_t outputs;
  std::size_t weights; ///< place of the first weight

  std::size_t bias() const { return weights + inputs * outputs; }
  template <class Float>
  matrix_view<Float> weights_in(std::span<Float> x) const {
    return {x.subspan(weights, inputs * outputs), inputs, outputs};
  }
  template <class Float>
  std::span<Float> bias_in(std::span<Float> x) const {
    return x.subspan(bias(), outputs);
  }
};

/// Layers z = W^T a + b with an activation between them; without hidden layers, a (generalised) linear model.
///
/// Parameters: layer by layer W (inputs x outputs, row-major, so that the row of one feature is contiguous) and then b.
/// Batches are computed in chunks, which bounds the workspace: a few MiB, whatever the batch.
class neural_network final : public model {
public:
  /// @error errc::usage when there would be more than 2^31 - 1 parameters
  explicit neural_network(neural_network_options options);

  std::size_t dimension() const override { return dimension_; }
  std::vector<tensor_shape> tensors() const override {
    std::vector<tensor_shape> result;
    for (const auto& l : layers_) {
      result.push_back({l.inputs, l.outputs});
      result.push_back({1, l.outputs});
    }
    return result;
  }
  /// "layer0.weight", "layer0.bias", ...; without hidden layers "weight" and "bias".
  std::vector<std::string> tensor_names() const override;
  /// 0 without hidden layers; otherwise weights ~ N(0, 2 / inputs) and biases 0 (He et al. 2015).
  void initial_point(std::span<float> x, const random_stream& random) const override;
  double loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) override;
  evaluation evaluate(std::span<const float> x, const batch& samples) override;
  void proximal_step(vec& x, float step) const override;
  std::unique_ptr<model> clone() const override { return std::make_unique<neural_network>(*this); }

  const neural_network_options& options() const { return options_; }
  std::vector<layer_shape> layers() const { return {layers_.begin(), layers_.end()}; }
  /// l2 / 2 ||w||^2, and l1 ||w||_1 if `with_l1`, from sums over the weights of a layer. Asks only for the sums that it
  /// needs, always in the same order.
  template <class Squares, class Magnitudes>
  double penalty(bool with_l1, Squares sum_of_squares_in, Magnitudes sum_of_magnitudes_in) const {
    double sum = 0;
    for (const layer_shape& layer : layers_) {
      if (options_.l2 != 0)
        sum += 0.5 * static_cast<double>(options_.l2) * sum_of_squares_in(layer);
      if (with_l1 && options_.l1 != 0)
        sum += static_cast<double>(options_.l1) * sum_of_magnitudes_in(layer);
    }
    return sum;
  }

private:
  struct dense_layer : layer_shape {
    std::vector<float> values = {}; ///< of one chunk: chunk x outputs
    std::vector<float> errors = {}; ///< d loss / d z; the last layer's replace its values
  };
  struct tally {
    double loss = 0;
    std::size_t right = 0;
  };

  /// Calls `work` with batches of at most chunk_ samples.
  template <class Work>
  void for_each_chunk(const batch& samples, Work work);
  /// Fills the layers' values; those of the last layer become errors.
  tally forward(std::span<const float> x, const batch& chunk);
  void backward(std::span<const float> x, const batch& chunk, std::span<float> gradient);
  double penalty_at(std::span<const float> x, bool with_l1) const;

  neural_network_options options_;
  std::vector<dense_layer> layers_;
  std::size_t dimension_ = 0;
  std::size_t chunk_;
  std::vector<float> inputs_; ///< the chunk's rows, when they are dense
};

} // namespace gossamer::compute::detail
