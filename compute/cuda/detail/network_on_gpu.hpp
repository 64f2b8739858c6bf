#pragma once

#include "gossamer/compute/models/detail/neural_network.hpp"

namespace gossamer::compute::cuda {

/// What `on_device` does where there is a twin.
std::unique_ptr<model> network_on_gpu(const compute::detail::neural_network& host, int gpu);

} // namespace gossamer::compute::cuda
