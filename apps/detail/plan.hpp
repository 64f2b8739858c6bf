#pragma once

#include "gossamer/apps/detail/options.hpp"

namespace gossamer::apps {

/// The plan that the options ask for, which fits the run: read, drawn, or empty.
/// @error errc::usage, errc::io
actors::fault_plan plan_of(const run_options& o, const actors::experiment& e);

/// About how long a run will take, from what its gradients cost: what a random plan is made for by default.
double estimated_seconds(const actors::experiment& e, double sample_time_s);

} // namespace gossamer::apps
