#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

#include <span>

namespace gossamer::apps {

/// The whole `gossamer` command, with a program's own algorithms beside the built-in ones: `list`, `explain`, `train`
/// and `simulate` know them all. A program is no more than
///
///     int main(int argc, char** argv) { return gossamer::apps::run_command(argc, argv, my_algorithms); }
///
/// Results go to standard output, progress and errors to standard error; messages use the name of argv[0]. Several
/// simulations run in processes of their own, so call it before there are other threads.
///
/// @param own entries whose names differ from each other and from those of the built-in ones; copied
/// @returns the exit status: 0, 1 for a failure, 2 for a wrong request, 128 + signal for an interrupted run
int run_command(int argc, char** argv, std::span<const actors::algorithm_entry> own = {});

} // namespace gossamer::apps
