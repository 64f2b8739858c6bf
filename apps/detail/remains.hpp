#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

// What is on the disk of a run that nobody goes on with.

/// What evaluations evaluate: the mean of the workers' models, or the masters' parts one behind the other.
std::vector<float> evaluated_model(const actors::experiment& e, const actors::resumption& from);

/// Writes what a node had come to when too few others were left, where `--resume` and `gossamer export` find it:
/// config.toml, a checkpoint and model.npz, in survivors/node-NUMBER of the run's folder, if that can be written to;
/// else in a folder below runs/. No file of the run itself is touched.
/// @returns the absolute path @error errc::io
std::filesystem::path keep_survivor(const actors::survival& s);

/// What there is to go on from, and how, as the remedy of an error.
/// @param folder of the run; empty: nobody knows @param survivors folders of nodes
std::string what_is_left(const std::filesystem::path& folder, const std::vector<std::string>& survivors);

/// How a run begins again that nobody goes on with.
struct second_beginning {
  std::vector<std::string> job; ///< "train", and its flags: with the settings of the run, in a folder beside its own
  std::string said;             ///< "from checkpoint 1200 of run, in run-2"
};

/// From its newest complete checkpoint; where it has none, from the mean of the models that its survivors had.
/// @param everybody_is_dead else a majority may go on elsewhere, and survivors must not begin a run of their own
/// @returns nothing where there is neither @error as `prepare`, and errc::io
std::optional<second_beginning> beginning_after(const program& p, const std::filesystem::path& folder,
                                                const std::vector<std::string>& survivors, bool everybody_is_dead);

} // namespace gossamer::apps
