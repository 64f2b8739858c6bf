#pragma once

#include "gossamer/compute/dataset.hpp"

#include <optional>

namespace gossamer::compute::detail {

/// The rows of a text file, and their labels as spelt. The meaning of the labels is known only once all of them were
/// seen.
struct labelled_rows {
  std::string path;
  dataset rows; ///< without targets
  std::vector<std::string> labels = {};
  std::vector<std::size_t> lines = {}; ///< line of each row, for messages
};

/// The parameters that sources of this kind share, beside holdout: train, test and task.
parameter train_parameter();
parameter test_parameter();
parameter task_parameter();

/// Returns the files that these parameters name.
data_files find_rows(const arguments& given);

/// Gives the rows their targets, and holds some of them out when there is no file of test rows.
///
/// Classes are the labels of the training file in ascending order, or alphabetically when they are no numbers. The task
/// is classification by itself when there are at most 100 of them and no number among them has a fraction.
/// @error errc::bad_data for labels that do not fit the task, or are in the test file alone, with file and line
data_split with_targets(labelled_rows train, std::optional<labelled_rows> test, const arguments& given,
                        std::uint64_t seed);

} // namespace gossamer::compute::detail
