#pragma once

#include "gossamer/actors/run/tables.hpp"

#include <span>

namespace gossamer::apps {

/// A program's own entries, beside the built-in ones. Their names differ from each other and from those. Copied.
struct own_entries {
  std::span<const actors::algorithm_entry> algorithms = {};
  std::span<const compress::codec_entry> codecs = {}; ///< with wire numbers from `compress::first_own_number` on
  std::span<const topology::topology_entry> topologies = {};
  std::span<const compute::model_entry> models = {};
  std::span<const compute::data_entry> data = {};
  std::span<const compute::optimiser_entry> optimisers = {};
};

/// The whole `gossamer` command, with a program's own entries beside the built-in ones: `list`, `explain`, `train`,
/// `launch` and `simulate` know them all. A program is no more than
///
///     int main(int argc, char** argv) { return gossamer::apps::run_command(argc, argv, my_algorithms); }
///
/// Results go to standard output, progress and errors to standard error; messages use the name of argv[0]. Several
/// simulations run in processes of their own, so call it before there are other threads.
///
/// @returns the exit status: 0, 1 for a failure, 2 for a wrong request, 128 + signal for an interrupted run
int run_command(int argc, char** argv, const own_entries& own = {});
/// The same, for a program that has algorithms only.
inline int run_command(int argc, char** argv, std::span<const actors::algorithm_entry> own) {
  return run_command(argc, argv, own_entries{.algorithms = own});
}

} // namespace gossamer::apps
