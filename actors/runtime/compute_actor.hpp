#pragma once

#include "gossamer/actors/runtime/gradient_source.hpp"
#include "gossamer/actors/runtime/messages.hpp"

#include <functional>

namespace gossamer::actors {

/// Computes the gradients of one worker, in a thread of its own: answers each `gradient_job` with a `gradient_result`.
///
/// @param make      makes the source, inside the actor's thread; called again when the actor is restarted
/// @param slow_down asked before each gradient: 1, or how many times longer it shall seem to take than on a worker with
/// an equal share of
///                  the machine: the answer is delayed by as much as is missing, and the thread stays free meanwhile
caf::behavior compute_actor(caf::event_based_actor* self, std::function<std::unique_ptr<gradient_source>()> make,
                            std::function<double()> slow_down, double fair_share, caf::actor supervisor,
                            std::string who);

} // namespace gossamer::actors
