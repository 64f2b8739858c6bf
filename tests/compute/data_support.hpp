#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compute/dataset.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "support/dense_rows.hpp"
#include "support/gzip.hpp"
#include "support/scratch_folder.hpp"

namespace gossamer::compute {

using support::dense_values;
using test::gzipped;
using test::scratch_folder;

/// Returns the message of the error that loading must end with.
std::string load_error(errc code, const std::string& spec);

/// Returns the features of a sample, zeros included.
std::vector<float> dense_row(const dataset& data, std::size_t i);

/// Expects the promises of all data sets: sizes that agree, labels and columns in range, finite numbers.
void expect_consistent(const data_split& split);

/// Expects both parts to hold the same samples and targets, to the bit.
void expect_alike(const data_split& a, const data_split& b);

} // namespace gossamer::compute
