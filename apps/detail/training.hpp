#pragma once

#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/actors/worlds/run_surroundings.hpp"
#include "gossamer/apps/detail/setup.hpp"

#include <functional>

namespace gossamer::apps {

/// A world in real time, which finishes the folder of its run.
using real_world =
    std::function<actors::run_summary(const run_setup&, const actors::run_surroundings&, actors::run_folder&)>;

/// One run, from settings to run folder. @returns the exit status
int train_in(const program& p, const run_options& options, bool json, const real_world& world);

} // namespace gossamer::apps
