#pragma once

#include "gossamer/compute/byte_features.hpp"
#include "gossamer/compute/cuda/detail/over_elements.hpp"
#include "gossamer/compute/cuda/detail/over_warp.hpp"

// The first layer, which reads samples by their indices: models/detail/input_layer.hpp for GPUs.
namespace gossamer::compute::cuda {

/// rows_i = samples_(index_i).
struct gather_rows {
  static constexpr const char* name = "gather_rows";
  struct shared {};

  const float* samples;
  const std::uint32_t* indices;
  over_elements all; ///< the elements of the rows
  float* rows;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    all.run(t, [this](std::uint64_t i, std::uint64_t k) {
      rows[i * all.columns + k] = samples[indices[i] * all.columns + k];
    });
  }
};

/// rows_i = the values of bytes_(index_i).
struct gather_byte_rows {
  static constexpr const char* name = "gather_byte_rows";
  struct shared {};

  const std::uint8_t* samples;
  const std::uint32_t* indices;
  over_elements all;        ///< the elements of the rows
  const byte_scale* scales; ///< of the equal parts of a row
  std::uint32_t each;       ///< elements of a part; 64 bits would be divided slowly
  float* rows;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    all.run(t, [this](std::uint64_t i, std::uint64_t k) {
      const auto& scale = scales[static_cast<std::uint32_t>(k) / each];
      rows[i * all.columns + k] = scale(samples[indices[i] * all.columns + k]);
    });
  }
};

/// z = A W, where the rows of A are sparse samples. One warp for each sample.
struct multiply_sparse_rows {
  static constexpr const char* name = "multiply_sparse_rows";
  struct shared {};

  const std::uint64_t* row_start;
  const std::uint32_t* columns;
  const float* values;
  const std::uint32_t* indices;
  std::uint64_t count;
  const float* weights;
  std::uint64_t outputs;
  float* z;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto i = t.warp(); i < count; i += t.warps()) {
      const auto begin = row_start[indices[i]], end = row_start[indices[i] + 1];
      if (outputs == 1)
        multiply_one_output(t, begin, end, z[i]);
      else
        multiply(t, begin, end, z + i * outputs);
    }
  }

private:
  template <class Thread>
  GOSSAMER_KERNEL void multiply(Thread& t, std::uint64_t begin, std::uint64_t end, float* out) const {
    for (std::uint64_t k = t.lane(); k < outputs; k += warp_size) {
      float sum = 0;
      for (auto j = begin; j < end; ++j)
        sum += values[j] * weights[columns[j] * outputs + k];
      out[k] = sum;
    }
  }

  /// The lanes share the entries, because a single output cannot be shared.
  template <class Thread>
  GOSSAMER_KERNEL void multiply_one_output(Thread& t, std::uint64_t begin, std::uint64_t end, float& out) const {
    float sum = 0;
    for (auto j = begin + t.lane(); j < end; j += warp_size)
      sum += values[j] * weights[columns[j]];
    sum = sum_over_warp(t, sum);
    if (t.lane() == 0)
      out = sum;
  }
};

/// gradient += A^T errors, where A is given by its columns (column_lists.hpp). One warp for each column, so that no two
/// warps write to one row of the gradient and every sum is in the order of the batch.
struct add_sparse_outer_products {
  static constexpr const char* name = "add_sparse_outer_products";
  struct shared {};

  const std::uint32_t* columns; ///< the columns that have entries
  const std::uint32_t* begins;  ///< the first entry of each column; one more at the end
  std::uint64_t count;
  const std::uint32_t* rows; ///< for each entry the sample's place in the batch
  const float* values;
  const float* errors;
  std::uint64_t outputs;
  float* gradient;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto c = t.warp(); c < count; c += t.warps()) {
      float* out = gradient + columns[c] * outputs;
      if (outputs == 1)
        add_one_output(t, begins[c], begins[c + 1], *out);
      else
        add(t, begins[c], begins[c + 1], out);
    }
  }

private:
  template <class Thread>
  GOSSAMER_KERNEL void add(Thread& t, std::uint32_t begin, std::uint32_t end, float* out) const {
    for (std::uint64_t k = t.lane(); k < outputs; k += warp_size) {
      float sum = 0;
      for (auto j = begin; j < end; ++j)
        sum += values[j] * errors[rows[j] * outputs + k];
      out[k] += sum;
    }
  }

  template <class Thread>
  GOSSAMER_KERNEL void add_one_output(Thread& t, std::uint32_t begin, std::uint32_t end, float& out) const {
    float sum = 0;
    for (auto j = begin + t.lane(); j < end; j += warp_size)
      sum += values[j] * errors[rows[j]];
    sum = sum_over_warp(t, sum);
    if (t.lane() == 0)
      out += sum;
  }
};

} // namespace gossamer::compute::cuda
