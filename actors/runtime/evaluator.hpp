#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/runtime/messages.hpp"

namespace gossamer::actors {

/// Evaluates the mean of all workers' models, in a thread of its own so that training goes on meanwhile.
/// Answers each `evaluate_models` with the completed `evaluation_record`, in order.
caf::behavior evaluator_actor(caf::event_based_actor* self, std::shared_ptr<const experiment> e, caf::actor supervisor);

/// The mean of the models, and the root mean square of their distances from it.
std::pair<vec, double> consensus(std::span<const vec> models);

} // namespace gossamer::actors
