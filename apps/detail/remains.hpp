#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

// The remains, on the disk, of a run that ended before its time.

/// Returns the model that evaluations use: the mean of the workers' models, or the masters' parts one behind the other.
std::vector<float> evaluated_model(const actors::experiment& e, const actors::resumption& from);

/// Writes the state of a node that was left with too few others, where `--resume` and `gossamer export` find it:
/// config.toml, a checkpoint and model.npz, in survivors/node-NUMBER of the run's folder, if that can be written to;
/// else in a folder below runs/. No file of the run itself is touched.
/// @returns the absolute path @error errc::io
std::filesystem::path keep_survivor(const actors::survival& s);

struct remains {
  std::filesystem::path folder;       ///< of the run; empty: unknown
  std::vector<std::string> survivors; ///< folders of nodes
  bool parts_elsewhere = false;       ///< as in `run_options`
};

/// Returns the remedy of an error: the remains from which the run can go on, and how.
std::string what_is_left(const remains& r);

/// A new start of a run that ended before its time.
struct second_beginning {
  std::vector<std::string> job; ///< "train", and its flags: with the settings of the run, in a folder beside its own
  std::string said;             ///< "from checkpoint 1200 of run, in run-2"
};

/// Returns a start from the newest complete checkpoint of the run; without one, from the mean of its survivors' models.
/// @param everybody_is_dead if false, a majority may go on elsewhere, and survivors must not begin a run of their own
/// @returns `nullopt` without checkpoint and models @error as `prepare`, and errc::io
std::optional<second_beginning> beginning_after(const program& p, const remains& r, bool everybody_is_dead);

} // namespace gossamer::apps
