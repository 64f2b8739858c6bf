#pragma once

#include "gossamer/actors/frames/endpoint.hpp"

namespace gossamer::actors {

/// The address of this machine from which it reaches a peer. The peer reaches this machine there, unless addresses are
/// translated on the way. Sends nothing.
/// @error errc::io if the name is unknown or there is no route
std::string local_address_towards(const endpoint& peer);

/// The address of this machine that no other one reaches: 127.0.0.1, or ::1 where IPv4 is switched off.
std::string loopback_address();

} // namespace gossamer::actors
