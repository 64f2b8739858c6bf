#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/compute/dataset.hpp"

#include <numeric>
#include <vector>

#include "dense_rows.hpp"

namespace gossamer::support {

/// Returns samples with about half of their features 0 and classes dealt in turn (real targets if `classes` is 0).
inline compute::dataset small_data(std::size_t samples, std::size_t features, std::size_t classes,
                                   std::uint64_t seed = 1) {
  random_sequence numbers{random_stream{seed, 0, purpose::synthetic}, 0};
  compute::dataset data;
  data.samples = samples;
  data.features = features;
  data.classes = classes;
  for (std::size_t i = 0; i < samples * features; ++i)
    data.dense.push_back(numbers.below(2) == 0 ? 0.0f : 2 * numbers.uniform() - 1);
  for (std::size_t i = 0; i < samples; ++i)
    data.targets.push_back(classes == 0 ? 2 * numbers.uniform() - 1 : static_cast<float>(i % classes));
  return data;
}

/// Returns the same samples as sparse rows.
inline compute::dataset as_sparse(const compute::dataset& dense) {
  auto data = dense;
  data.dense.clear();
  data.row_start.push_back(0);
  for (std::size_t i = 0; i < dense.samples; ++i) {
    const auto row = support::dense_row(dense, i);
    for (std::size_t k = 0; k < row.size(); ++k)
      if (row[k] != 0) {
        data.columns.push_back(static_cast<std::uint32_t>(k));
        data.values.push_back(row[k]);
      }
    data.row_start.push_back(data.columns.size());
  }
  return data;
}

inline std::vector<std::uint32_t> all_indices(const compute::dataset& data) {
  std::vector<std::uint32_t> indices(data.samples);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

} // namespace gossamer::support
