#pragma once

#include "gossamer/compute/model.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace gossamer::compute::cuda {

/// A sparse batch by its columns: each column with its entries in the order of the batch. So a GPU can sum over the
/// samples column by column. Adding sample by sample would need atomics, whose order is random.
///
/// Cost: linear in the batch's entries; no heap memory once the largest batch was seen. Columns are in the order in
/// which they first occur.
class column_lists {
public:
  explicit column_lists(std::size_t features) : place_(features, none) {}

  void list(const batch& samples) {
    columns.clear();
    begins.assign(1, 0);
    for (const auto i : samples.indices)
      for (const auto column : samples.data.row(i).columns)
        count(column);
    for (std::size_t c = 0; c < columns.size(); ++c)
      begins[c + 1] += begins[c];

    next_.assign(begins.begin(), begins.end());
    rows.resize(begins.back());
    values.resize(begins.back());
    for (std::uint32_t r = 0; r < samples.indices.size(); ++r) {
      const auto row = samples.data.row(samples.indices[r]);
      for (std::size_t j = 0; j < row.columns.size(); ++j) {
        const auto to = next_[place_[row.columns[j]]]++;
        rows[to] = r;
        values[to] = row.values[j];
      }
    }
    for (const auto column : columns)
      place_[column] = none;
  }

  std::vector<std::uint32_t> columns;
  std::vector<std::uint32_t> begins; ///< the first entry of each column; one more at the end
  std::vector<std::uint32_t> rows;   ///< for each entry the place of its sample in the batch
  std::vector<float> values;

private:
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

  void count(std::uint32_t column) {
    if (place_[column] == none) {
      place_[column] = static_cast<std::uint32_t>(columns.size());
      columns.push_back(column);
      begins.push_back(0);
    }
    ++begins[place_[column] + 1];
  }

  std::vector<std::uint32_t> place_; ///< for each feature the place of its column among `columns`
  std::vector<std::uint32_t> next_;
};

} // namespace gossamer::compute::cuda
