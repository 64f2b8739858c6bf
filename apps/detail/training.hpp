#pragma once

#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/apps/detail/live_recorder.hpp"
#include "gossamer/apps/detail/setup.hpp"

#include <functional>

namespace gossamer::apps {

/// A world in real time. It calls the recorder's `finish`. @param folder the recorder's path
using real_world = std::function<actors::run_summary(const run_setup&, const actors::run_surroundings&, live_recorder&,
                                                     const std::filesystem::path& folder)>;

/// Trains from settings to run folder. @returns the exit status
int train_in(const program& p, const run_options& options, live_output& output, const real_world& world);

} // namespace gossamer::apps
