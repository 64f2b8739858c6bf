#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/actors/runtime/ledger.hpp"
#include "gossamer/actors/runtime/messages.hpp"

namespace gossamer::actors {

/// Evaluates the mean of all workers' models, in a thread of its own so that training goes on meanwhile.
/// Answers each `evaluate_models` with the completed `evaluation_record`, in order.
caf::behavior evaluator_actor(caf::event_based_actor* self, std::shared_ptr<const experiment> e, caf::actor supervisor);

/// What the evaluator is to do, given everybody's snapshots. Nothing when there are no models, or a master's is
/// missing.
/// @param seen the work and traffic that belong to these models are added
std::optional<evaluate_models> evaluation_of(const experiment& run, ledger& seen, std::vector<snapshot> snapshots,
                                             double time_s);

/// The mean of the models, and the root mean square of their distances from it.
std::pair<vec, double> consensus(std::span<const vec> models);

} // namespace gossamer::actors
