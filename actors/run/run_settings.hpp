#pragma once

#include "gossamer/actors/run/tables.hpp"
#include "gossamer/base/setting.hpp"
#include "gossamer/topology/graph.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gossamer::actors {

using topology::rank;

/// Interval of checkpoints, in seconds, or in steps of each worker (on average if asynchronous). No checkpoints if both
/// are 0.
struct checkpoint_rhythm {
  double seconds = 0;
  std::uint64_t steps = 0;

  bool is_set() const noexcept { return seconds > 0 || steps > 0; }
};

/// A run in a user's terms. Every text is a spec (`name:key=value,...`).
struct run_settings {
  std::string algorithm = "ad-psgd";
  std::string topology = "auto"; ///< auto: fits the algorithm
  std::string mixing = "auto";
  std::string islands;        ///< as topology::parse_islands; empty: each worker is one
  std::string codec = "auto"; ///< auto: as the algorithm suggests
  std::string model = "mlp:hidden=200";
  std::string initial; ///< an .npz file with the starting point; empty: the model's own
  std::string data = "digits";
  std::string partition = "iid";
  std::string optimiser = "auto"; ///< auto: as the algorithm suggests
  std::string schedule = "constant";
  std::string device = "cpu";                          ///< for gradients; several devices go to the workers in turn
  std::size_t workers = 4;                             ///< when the run begins
  std::optional<std::size_t> min_workers, max_workers; ///< limits for leaving and joining
  std::size_t batch = 32;
  std::optional<double> lr; ///< absent: as `default_lr` says

  std::optional<double> epochs; ///< passes over the data, all workers together; default 30 if nothing else ends the run
  std::optional<std::uint64_t> steps; ///< per worker, instead of epochs
  std::optional<double> seconds;      ///< stop after this time at the latest

  std::uint64_t seed = 1;
  std::size_t threads = 0; ///< scheduler threads; 0: one for each processor
  checkpoint_rhythm checkpoint;
  std::optional<double> eval_every; ///< epochs between evaluations; default: 20 evaluations a run
  /// Bytes that may be under way from one worker to another before its next step waits; absent: 8 models or 8 MiB,
  /// whichever is more.
  std::optional<std::uint64_t> under_way;
  std::map<rank, double> slow; ///< worker -> factor by which it computes more slowly

  /// Folder on this machine for relative paths of the data, of `initial` and of the model's file; empty: the working
  /// directory. Not part of the text: the contents of the files are compared, not their paths.
  std::string data_dir;
  /// The files that `files_of` names, if they are elsewhere on this machine; empty: they are where the text says.
  compute::data_files files;

  /// Number of ranks for workers, 0 .. worker_ranks() - 1, taken or not. The ranks of masters follow.
  std::size_t worker_ranks() const noexcept { return max_workers.value_or(workers); }
};

/// Names in `files` for `initial` and for the model's file. No data set uses these names for its own files.
inline constexpr std::string_view initial_role = "initial model", model_role = "model";

/// The files that preparing the run reads, at the paths of the text. They need not all be there.
/// @error as `compute::find_data`
compute::data_files files_of(const run_settings& s, const tables& known = {});

/// All settings of a run: the flags of commands, the keys of configurations, the lines of `to_text`.
const settings_table<run_settings>& run_settings_table();

/// A TOML text from which another process prepares the same run: see `fingerprint`.
std::string to_text(const run_settings& s);
/// @param source name of the text in messages
/// @error errc::usage with source:line for values that no run can have; `prepare` checks those that depend on other
///        settings
run_settings parse_run_settings(std::string_view text, const std::string& source);

} // namespace gossamer::actors
