#pragma once

#include "gossamer/actors/frames/endpoint.hpp"

namespace gossamer::actors {

/// The address of this machine from which it reaches another: where that one reaches it in turn, unless addresses are
/// translated on the way. Sends nothing.
/// @error errc::io when the name is unknown or there is no way
std::string local_address_towards(const endpoint& peer);

} // namespace gossamer::actors
