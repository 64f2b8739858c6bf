#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/compute/dataset.hpp"

namespace gossamer::compute {

/// Writes a picture as `data.augmentation` changes it. The random choices depend on the stream, the step and the sample
/// alone, so that a repeated step sees the same pictures.
/// @param from, to pictures of `data.features` elements, in the shape of `data`: channels, rows, columns
void augment(std::span<const float> from, std::span<float> to, const dataset& data, const random_stream& random,
             std::uint64_t step, std::uint32_t sample);

} // namespace gossamer::compute
