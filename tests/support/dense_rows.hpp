#pragma once

#include "gossamer/compute/dataset.hpp"

#include <vector>

namespace gossamer::support {

/// Returns the features of a dense sample, however they are kept.
inline std::vector<float> dense_row(const compute::dataset& data, std::size_t i) {
  std::vector<float> row(data.features);
  data.copy_row(i, row);
  return row;
}

/// Returns the features of all samples, row by row; none when they are sparse.
inline std::vector<float> dense_values(const compute::dataset& data) {
  if (data.sparse())
    return {};
  std::vector<float> values(data.samples * data.features);
  for (std::size_t i = 0; i < data.samples; ++i)
    data.copy_row(i, std::span{values}.subspan(i * data.features, data.features));
  return values;
}

/// Returns the same samples, kept as floats.
inline compute::dataset as_floats(const compute::dataset& data) {
  const auto values = dense_values(data);
  auto result = data;
  result.bytes = {};
  result.dense.assign(values.begin(), values.end());
  return result;
}

/// Returns the samples with other features, which are bytes in no order.
/// @param scales of the equal parts of a sample
inline compute::dataset with_bytes(compute::dataset data, std::vector<compute::byte_scale> scales,
                                   const compute::mapped_allocator<std::uint8_t>& memory = {}) {
  compute::large_vector<std::uint8_t> bytes(data.samples * data.features, memory);
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<std::uint8_t>(k * k * 40503 >> 7);
  data.dense.clear();
  data.bytes = compute::features_in(std::move(bytes));
  data.bytes.scales = std::move(scales);
  return data;
}

} // namespace gossamer::support
