#pragma once

#include "gossamer/apps/detail/sweep.hpp"

#include <CLI/CLI.hpp>

namespace gossamer::apps {

/// Adds the flags of `gossamer sweep`. @param o must outlive the command
void add_sweep_flags(CLI::App& command, sweep_options& o);

} // namespace gossamer::apps
