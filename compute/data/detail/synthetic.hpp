#pragma once

#include "gossamer/compute/dataset.hpp"

namespace gossamer::compute::detail {

/// The parts of a generated data set, in the ranks of their random streams. Rank 0 serves both parts.
enum class part : std::uint32_t { train = 1, test = 2 };

parameter samples_parameter(std::string fallback);
parameter test_samples_parameter(std::string fallback);

/// @error errc::usage when a generated part would hold more than 2^32 stored values (16 GiB)
void check_size(std::size_t samples, std::size_t values_per_sample);

} // namespace gossamer::compute::detail
