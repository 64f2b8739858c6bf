#pragma once

#include "gossamer/compute/model.hpp"
#include "gossamer/compute/npz.hpp"

#include <span>
#include <string>

namespace gossamer::compute {

/// Writes a point of a model as an .npz file: an array for each tensor under its name, biases as vectors, and an array
/// for each of the buffers there.
/// @error errc::io
void write_model(const std::string& path, const model& m, std::span<const float> x);

/// Fills x from an .npz file that has an array for each tensor of the model, in any order, and no other but its
/// buffers, which are not read. Sides of 1 do not count: (n,), (1, n) and (n, 1) are alike.
/// @param x must have `m.dimension()` elements
/// @error as `read_npz`; errc::usage when the arrays are not those of the model, with the name, or the shapes of both;
///        errc::bad_data for numbers that are not finite
void read_model(const std::string& path, const model& m, std::span<float> x);

} // namespace gossamer::compute
