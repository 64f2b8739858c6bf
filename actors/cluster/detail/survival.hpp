#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"

#include <caf/scoped_actor.hpp>

namespace gossamer::actors::detail {

/// Returns the states of this process's workers if its node has ended because too few others are left; `nullopt` if
/// there is another reason, or if a master is missing, without which no run goes on. Waits for workers, but not for
/// long. In a synchronous run only the workers that have come farthest are returned: their steps must be the same.
/// @param node has ended, and has not been sent away
std::optional<resumption> rescued(caf::scoped_actor& self, const caf::actor& node, const experiment& e);

} // namespace gossamer::actors::detail
