#pragma once

#include "gossamer/compute/cuda/detail/over_elements.hpp"
#include "gossamer/compute/models/detail/neural_network.hpp"

#include <cmath>

// Kernels between the matrix products of a network, each in one pass over a layer.
namespace gossamer::compute::cuda {

using compute::detail::activation;

/// values = activation(values + bias), row by row.
struct add_bias_and_activate {
  static constexpr const char* name = "add_bias_and_activate";
  struct shared {};

  float* values;
  over_elements all; ///< the elements of the values
  const float* bias;
  activation function;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    all.run(t, [this](std::uint64_t i, std::uint64_t k) {
      const float z = values[i * all.columns + k] + bias[k];
      values[i * all.columns + k] = function == activation::tanh ? std::tanh(z) : z < 0 ? 0 : z; // keeps a NaN
    });
  }
};

/// bias gradient += the sums of the columns of the errors. If `values` are given, the errors are first multiplied by
/// the derivative of the activation, computed from its values.
///
/// A block has 32 columns at a time. Its warps add up every so many rows, and then their sums are added up.
struct damp_and_sum_errors {
  static constexpr const char* name = "damp_and_sum_errors";
  static constexpr unsigned most_warps = gossamer::cuda::launch_policy::most_threads / warp_size;
  struct shared {
    float sums[most_warps][warp_size];
  };

  float* errors;
  std::uint64_t rows, outputs;
  const float* values; ///< may be null
  activation function;
  float* bias_gradient;

  /// Pieces of work: one block for 32 columns.
  static constexpr std::uint64_t pieces_of(std::uint64_t outputs) {
    return (outputs + warp_size - 1) / warp_size * most_warps;
  }

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    auto& sums = t.template shared<shared>().sums;
    const unsigned warp = t.thread() / warp_size, warps = t.threads() / warp_size;
    for (auto first = std::uint64_t{t.block()} * warp_size; first < outputs; first += t.blocks() * warp_size) {
      const auto column = first + t.lane();
      float sum = 0;
      if (column < outputs)
        for (std::uint64_t i = warp; i < rows; i += warps)
          sum += damped(i * outputs + column);
      sums[warp][t.lane()] = sum;
      t.sync_block();
      if (warp == 0 && column < outputs) {
        for (unsigned w = 1; w < warps; ++w)
          sum += sums[w][t.lane()];
        bias_gradient[column] += sum;
      }
      t.sync_block(); // before the sums are overwritten
    }
  }

private:
  GOSSAMER_KERNEL float damped(std::uint64_t i) const {
    if (values == nullptr)
      return errors[i];
    const float a = values[i];
    return errors[i] = function == activation::tanh ? errors[i] * (1 - a * a) : a == 0 ? 0 : errors[i];
  }
};

/// gradient += l2 * weights.
struct add_l2 {
  static constexpr const char* name = "add_l2";
  struct shared {};

  const float* weights;
  std::uint64_t size;
  float l2;
  float* gradient;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto i = t.global(); i < size; i += t.globals())
      gradient[i] += l2 * weights[i];
  }
};

/// w <- argmin_z (z - w)^2 / 2 + threshold |z|.
struct shrink_weights {
  static constexpr const char* name = "shrink_weights";
  struct shared {};

  float* weights;
  std::uint64_t size;
  float threshold;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto i = t.global(); i < size; i += t.globals())
      weights[i] = compute::detail::soft_threshold(weights[i], threshold);
  }
};

} // namespace gossamer::compute::cuda
