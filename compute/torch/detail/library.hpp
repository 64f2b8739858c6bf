#pragma once

#include "gossamer/compute/torch/detail/network.hpp"

namespace gossamer::compute::libtorch {

/// Has the library `gossamer_torch` make a network. The first request opens the library, and LibTorch with it, so that
/// programs that do not name these models neither wait for it nor need it. It is looked for at $GOSSAMER_TORCH, else
/// beside the running program in ../lib, else at its place of installation.
/// @error errc::usage when the library is missing, with what to install, and when the request does not fit
std::unique_ptr<network> open_network(const network_request& wanted);

/// True if the library exists.
bool is_there();

} // namespace gossamer::compute::libtorch
