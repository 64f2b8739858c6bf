#pragma once

#include "gossamer/actors/runtime/transport.hpp"
#include "gossamer/actors/runtime/worker.hpp"

#include <functional>

namespace gossamer::actors {

/// Snapshots travel to the node that evaluates as frames do, and are not counted: papers do not count them.

/// Whom they are for: a rank behind that of the last master.
life evaluating_life(std::size_t participants);

frame to_frame(const snapshot& s, buffer_pool pool);
/// @param dimension of the model, or of the part of it that a master has: at most so much
/// @error errc::bad_packet when it is none
snapshot read_snapshot(const frame& f, std::size_t dimension, buffer_pool pool);

} // namespace gossamer::actors
