#pragma once

#include "gossamer/compute/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "dense_rows.hpp"

namespace gossamer::test {

/// Returns the first promise of all data sets that this one breaks: sizes that agree, labels and columns in range,
/// finite numbers. Empty: none.
inline std::string inconsistency_of(const compute::dataset& data) {
  const auto finite = [](float x) { return std::isfinite(x); };
  const auto is_target = [&](float x) {
    return finite(x) && (data.classes == 0 || (x >= 0 && x < static_cast<float>(data.classes)));
  };
  const auto stored = data.dense.size() + data.bytes.all.size();
  if (data.samples == 0 || data.features == 0)
    return "it is empty";
  if (data.targets.size() != data.samples || !std::ranges::all_of(data.targets, is_target))
    return "its targets";
  if (data.class_names.size() != data.classes)
    return "the names of its classes";
  if (!data.sparse() && stored != data.samples * data.features)
    return "the size of its rows";
  const auto values = support::dense_values(data);
  if (!std::ranges::all_of(values, finite) || !std::ranges::all_of(data.values, finite))
    return "numbers that are not finite";
  if (!data.sparse())
    return "";
  if (data.row_start.size() != data.samples + 1 || data.row_start.front() != 0
      || data.row_start.back() != data.columns.size() || data.values.size() != data.columns.size()
      || !std::ranges::is_sorted(data.row_start))
    return "where its rows begin";
  for (std::size_t i = 0; i < data.samples; ++i) {
    const auto columns = data.row(i).columns;
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (columns[k] >= data.features || (k > 0 && columns[k - 1] >= columns[k]))
        return "the columns of row " + std::to_string(i);
  }
  return "";
}

inline std::string inconsistency_of(const compute::data_split& split) {
  const auto &train = split.train, &test = split.test;
  for (const auto* part : {&train, &test})
    if (const auto problem = inconsistency_of(*part); !problem.empty())
      return (part == &train ? "training data: " : "test data: ") + problem;
  const bool alike = train.features == test.features && train.classes == test.classes
                     && train.class_names == test.class_names && train.sparse() == test.sparse();
  return alike ? "" : "training and test data are of different kinds";
}

} // namespace gossamer::test
