#pragma once

#include "gossamer/compute/cuda/detail/over_warp.hpp"
#include "gossamer/compute/models/detail/criterion.hpp"

#include <cmath>
#include <limits>

// Adds the last layer's bias, and computes the loss of each sample and its derivative, in one pass:
// models/criterion.cpp for GPUs. Losses are in double precision; the host adds them up.
namespace gossamer::compute::cuda {

using compute::detail::criterion;
using compute::detail::verdict;

/// Squared error and log loss, which have one output. One thread for each sample.
struct judge_one_output {
  static constexpr const char* name = "judge_one_output";
  struct shared {};

  float* z; ///< without bias; becomes share * d loss / d z
  const float* bias;
  std::uint64_t count;
  const float* targets; ///< for all samples of the dataset
  const std::uint32_t* indices;
  criterion loss;
  float share;
  verdict* verdicts;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto i = t.global(); i < count; i += t.globals()) {
      const float target = targets[indices[i]], output = z[i] + *bias;
      verdicts[i] = loss == criterion::log_loss ? log_loss(output, target, z[i]) : squared_error(output, target, z[i]);
      z[i] *= share;
    }
  }

private:
  GOSSAMER_KERNEL static verdict squared_error(float output, float target, float& error) {
    const double difference = static_cast<double>(output) - static_cast<double>(target);
    error = static_cast<float>(difference);
    return {0.5 * difference * difference, false};
  }

  GOSSAMER_KERNEL static verdict log_loss(float output, float target, float& error) {
    const double y = target == 0 ? -1 : 1;
    const double margin = y * static_cast<double>(output);
    const double small = std::exp(-std::fabs(margin)); // cannot overflow
    const double wrong = (margin > 0 ? small : 1) / (1 + small);
    error = static_cast<float>(-y * wrong);
    return {std::log1p(small) - (margin < 0 ? margin : 0), margin > 0 || (margin == 0 && y < 0)};
  }
};

/// Cross-entropy of the softmax. One warp for each sample; each lane reads and writes outputs of its own.
struct judge_classes {
  static constexpr const char* name = "judge_classes";
  struct shared {};

  float* z; ///< count x outputs, without bias; becomes share * d loss / d z
  const float* bias;
  std::uint64_t count, outputs;
  const float* targets; ///< for all samples of the dataset
  const std::uint32_t* indices;
  float share;
  verdict* verdicts;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto i = t.warp(); i < count; i += t.warps())
      judge(t, z + i * outputs, static_cast<std::uint64_t>(targets[indices[i]]), verdicts[i]);
  }

private:
  template <class Thread>
  GOSSAMER_KERNEL void judge(Thread& t, float* row, std::uint64_t label, verdict& out) const {
    const float of_label = row[label] + bias[label];
    float top = -std::numeric_limits<float>::infinity();
    bool beaten = false; // the first of the greatest outputs wins, as on the processor
    for (std::uint64_t k = t.lane(); k < outputs; k += warp_size) {
      const float value = row[k] + bias[k];
      top = value > top ? value : top;
      beaten = beaten || !(k < label ? value < of_label : value <= of_label);
    }
    top = greatest_over_warp(t, top);
    const bool right = t.ballot(beaten) == 0;

    double sum = 0;
    for (std::uint64_t k = t.lane(); k < outputs; k += warp_size) {
      row[k] = std::exp(row[k] + bias[k] - top);
      sum += static_cast<double>(row[k]);
    }
    sum = sum_over_warp(t, sum);

    const auto normaliser = static_cast<float>(1 / sum);
    for (std::uint64_t k = t.lane(); k < outputs; k += warp_size)
      row[k] = (row[k] * normaliser - (k == label ? 1.0f : 0.0f)) * share;
    const double loss = std::log(sum) + (static_cast<double>(top) - static_cast<double>(of_label));
    if (t.lane() == 0)
      out = {loss, right && loss < std::numeric_limits<double>::infinity()};
  }
};

} // namespace gossamer::compute::cuda
