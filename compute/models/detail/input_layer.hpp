#pragma once

#include "gossamer/compute/matrix.hpp"
#include "gossamer/compute/model.hpp"

#include <vector>

namespace gossamer::compute::detail {

/// z += A W, where the rows of A are the samples. Dense rows are gathered into `rows` first.
/// Cost 2 * outputs operations for each element of A that is stored.
void multiply_samples(matrix z, const batch& samples, const_matrix weights, std::vector<float>& rows);

/// gradient += A^T errors. @param rows must be as `multiply_samples` left them
void add_outer_products(matrix gradient, const batch& samples, const_matrix errors, const std::vector<float>& rows);

} // namespace gossamer::compute::detail
