#pragma once

#include "gossamer/compute/dataset.hpp"

namespace gossamer::compute::detail {

// Functions rather than objects, so that the table does not depend on the order in which files are
// initialised.
data_entry digits_data();
data_entry logistic_data();
data_entry quadratic_data();
data_entry words_data();
data_entry idx_data();
data_entry cifar10_data();
data_entry libsvm_data();
data_entry csv_data();
data_entry npz_data();
data_entry text_data();

/// @error errc::bad_data when that file is missing, which happens only to files that a peer named
const std::string& path_of(const data_files& files, std::string_view role);

} // namespace gossamer::compute::detail
