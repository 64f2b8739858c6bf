#pragma once

#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/base/tensor_shape.hpp"

#include <span>
#include <vector>

namespace gossamer::actors {

/// A vector and its weight, which is positive, among others.
struct weighted {
  vec v;
  double weight;
};

/// The weight of what a worker has learnt from so many samples in so many steps, quantity times quality:
/// samples (samples / steps); 0 for no samples.
double contribution_weight(std::uint64_t samples, std::uint64_t steps) noexcept;

/// sum_i w_i v_i / sum_i w_i, added in the order of `all`; with equal weights to the bit the sum times 1/M.
/// @param all at least one, of one size
vec weighted_mean(std::span<const weighted> all);

/// The radial-directional average, tensor by tensor, with phi(v) = v / |v| and phi(0) = 0:
///
///   (sum_i w_i |v_i| / sum_i w_i) phi(sum_i w_i phi(v_i))
///
/// Its length is the mean length, whatever the directions: M orthogonal vectors of length R have a mean of length
/// R / sqrt(M). Where the directions cancel out, |sum_i w_i phi(v_i)| < 1e-12 sum_i w_i, the tensor gets the mean. A v
/// shorter than 2^-126 has no direction, as 0 has none.
/// @param all at least one, of one size
/// @param tensors segments of the vectors, one behind the other, that together are all of them
vec radial_directional_mean(std::span<const weighted> all, std::span<const segment> tensors);

/// The parts of tensors in a segment of the vector of them all, by their places in that segment; the whole segment, if
/// no tensors are known.
std::vector<segment> tensors_within(std::span<const tensor_shape> tensors, segment place);

} // namespace gossamer::actors
