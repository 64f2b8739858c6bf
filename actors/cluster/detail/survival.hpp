#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"

#include <caf/scoped_actor.hpp>

namespace gossamer::actors::detail {

/// What the workers of this process had come to, where its node has ended because too few others are left; nothing
/// where there is another reason, or where a master is missing, without which nobody goes on. Waits for workers, but
/// not for long. Of a synchronous run it has those that have come farthest: its steps must be the same.
/// @param node which has ended, and has not been sent away
std::optional<resumption> rescued(caf::scoped_actor& self, const caf::actor& node, const experiment& e);

} // namespace gossamer::actors::detail
