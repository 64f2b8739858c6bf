#include "gossamer/compute/models/detail/input_layer.hpp"

#include "gossamer/base/vec.hpp"

namespace gossamer::compute::detail {

namespace {

void gather(const batch& samples, std::vector<float>& rows) {
  samples.data.begin_reading(samples.indices);
  rows.resize(samples.indices.size() * samples.data.features);
  auto left = std::span{rows};
  for (const auto i : samples.indices) {
    samples.data.copy_row(i, left);
    left = left.subspan(samples.data.features);
  }
}

void multiply_row(std::span<float> z, const sparse_row& row, const_matrix weights) {
  for (std::size_t j = 0; j < row.columns.size(); ++j)
    add_scaled(z, row.values[j], weights.row(row.columns[j]));
}

void add_outer_product(matrix gradient, const sparse_row& row, std::span<const float> errors) {
  for (std::size_t j = 0; j < row.columns.size(); ++j)
    add_scaled(gradient.row(row.columns[j]), row.values[j], errors);
}

// These two are for a single output. A row of weights is then one number, and a call for each row costs more than its
// arithmetic.

void multiply_row_one_output(float& z, const sparse_row& row, std::span<const float> weights) {
  for (std::size_t j = 0; j < row.columns.size(); ++j)
    z += row.values[j] * weights[row.columns[j]];
}

void add_outer_product_one_output(std::span<float> gradient, const sparse_row& row, float error) {
  for (std::size_t j = 0; j < row.columns.size(); ++j)
    gradient[row.columns[j]] += row.values[j] * error;
}

} // namespace

void multiply_samples(matrix z, const batch& samples, const_matrix weights, std::vector<float>& rows) {
  if (!samples.data.sparse()) {
    gather(samples, rows);
    multiply(z, {rows, z.rows, weights.rows}, weights, onto::add);
    return;
  }
  for (std::size_t i = 0; i < z.rows; ++i) {
    const auto row = samples.data.row(samples.indices[i]);
    if (z.columns == 1)
      multiply_row_one_output(z.values[i], row, weights.values);
    else
      multiply_row(z.row(i), row, weights);
  }
}

void add_outer_products(matrix gradient, const batch& samples, const_matrix errors, const std::vector<float>& rows) {
  if (!samples.data.sparse()) {
    multiply_at(gradient, {rows, errors.rows, gradient.rows}, errors, onto::add);
    return;
  }
  for (std::size_t i = 0; i < errors.rows; ++i) {
    const auto row = samples.data.row(samples.indices[i]);
    if (errors.columns == 1)
      add_outer_product_one_output(gradient.values, row, errors.values[i]);
    else
      add_outer_product(gradient, row, errors.row(i));
  }
}

} // namespace gossamer::compute::detail
