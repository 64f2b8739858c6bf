#pragma once

#include "gossamer/actors/frames/endpoint.hpp"

namespace gossamer::actors {

/// The address of this machine from which it reaches a peer. The peer reaches this machine there, unless addresses are
/// translated on the way. Sends nothing.
/// @error errc::io if the name is unknown or there is no route
std::string local_address_towards(const endpoint& peer);

} // namespace gossamer::actors
