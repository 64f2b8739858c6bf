#pragma once

#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/reproduce.hpp"
#include "gossamer/apps/detail/sweep.hpp"

#include <CLI/CLI.hpp>

namespace gossamer::apps {

// The flags of the commands that make many runs. The options must outlive the command.

void add_exploration_flags(CLI::App& command, exploration& x);
void add_sweep_flags(CLI::App& command, sweep_options& o);
void add_reproduce_flags(CLI::App& command, reproduce_options& o);

} // namespace gossamer::apps
