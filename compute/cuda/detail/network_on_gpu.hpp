#pragma once

#include "gossamer/compute/models/detail/neural_network.hpp"

namespace gossamer::compute::cuda {

/// Returns the twin of a model that has one, for `on_device`.
std::unique_ptr<model> network_on_gpu(const compute::detail::neural_network& host, int gpu);

} // namespace gossamer::compute::cuda
