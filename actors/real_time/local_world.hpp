#pragma once

#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/run/experiment.hpp"

namespace gossamer::actors {

/// @error the reason for an early end: errc::diverged, errc::failed, or an exception of the observer; errc::usage when
///        the plan does not fit the run. Never hangs on a dead actor: a failure ends the run, and a worker that was
///        killed is lost to the others, which go on.
run_summary run_locally(std::shared_ptr<const experiment> e, const run_surroundings& around = {});

} // namespace gossamer::actors
