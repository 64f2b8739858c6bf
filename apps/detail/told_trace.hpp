#pragma once

#include "gossamer/actors/hosting/run_trace.hpp"
#include "gossamer/apps/detail/live_output.hpp"

#include <memory>

namespace gossamer::apps {

/// Returns a trace whose moments are announced (`trace_is`) to the program that has started this one, several times a
/// second, so that those of a process that is killed are there but for the last. The first 500,000 are, unless the
/// program reads so slowly that they fill a few megabytes: no worker waits. @param output outlives the result
std::shared_ptr<actors::run_trace> told_trace(live_output& output);

} // namespace gossamer::apps
