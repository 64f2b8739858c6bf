#pragma once

#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/run/experiment.hpp"

namespace gossamer::actors {

/// Trains with all workers in this process: one actor for each worker, one thread for each worker's gradients, and
/// messages that share memory instead of copying it. Blocks until the run has ended.
///
/// @error whatever ended the run early: errc::diverged, errc::failed, or what the observer threw; errc::usage when the
///        plan does not fit the run. Never hangs on a dead actor: a failure ends the run, and a worker that was killed
///        is lost to the others, who go on.
run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around = {});

} // namespace gossamer::actors
