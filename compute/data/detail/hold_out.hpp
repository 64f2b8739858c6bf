#pragma once

#include "gossamer/compute/dataset.hpp"

namespace gossamer::compute::detail {

parameter holdout_parameter();

/// Holds a random share of the samples out to test with. Both parts keep the order of the file and are never empty.
/// @param all at least two samples
data_split hold_out(const dataset& all, double share, std::uint64_t seed);

} // namespace gossamer::compute::detail
