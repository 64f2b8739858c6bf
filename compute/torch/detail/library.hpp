#pragma once

#include "gossamer/compute/torch/detail/network.hpp"

namespace gossamer::compute::libtorch {

/// What the library `gossamer_torch` makes of a request. The library, and LibTorch with it, is opened with the first:
/// programs that do not name these models neither wait for it nor need it. It is looked for where $GOSSAMER_TORCH says,
/// else beside the running program in ../lib, else where it would have been installed.
/// @error errc::usage when the library is not there, which says what to install, and when the request does not fit
std::unique_ptr<network> open_network(const network_request& wanted);

/// Whether there is a library.
bool is_there();

} // namespace gossamer::compute::libtorch
