#pragma once

#include "gossamer/base/setting.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/topology/graph.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gossamer::actors {

using topology::rank;

/// How often the state of a run is saved: every so many seconds, or every so many steps of each worker (on average, if
/// asynchronous); never where both are 0.
struct checkpoint_rhythm {
  double seconds = 0;
  std::uint64_t steps = 0;

  bool is_set() const noexcept { return seconds > 0 || steps > 0; }
};

/// A run as a user asks for it. Every text is a spec (`name:key=value,...`).
struct run_settings {
  std::string algorithm = "ad-psgd";
  std::string topology = "auto"; ///< what fits the algorithm
  std::string mixing = "auto";
  std::string codec = "auto"; ///< what the algorithm suggests
  std::string model = "mlp:hidden=200";
  std::string initial; ///< an .npz file, the point where the model starts; empty: what the model says
  std::string data = "digits";
  std::string partition = "iid";
  std::string optimiser = "auto"; ///< what the algorithm suggests
  std::string schedule = "constant";
  std::string device = "cpu"; ///< where gradients are computed; of several, each worker in turn has the next
  std::size_t workers = 4;    ///< with which the run begins
  std::optional<std::size_t> min_workers, max_workers; ///< between which others leave and come
  std::size_t batch = 32;
  std::optional<double> lr; ///< absent: what the algorithm, or else the optimiser, suggests

  std::optional<double> epochs;       ///< passes over the data, all workers together; 30 when nothing else ends the run
  std::optional<std::uint64_t> steps; ///< per worker, instead of epochs
  std::optional<double> seconds;      ///< stop after so long, if not before

  std::uint64_t seed = 1;
  std::size_t threads = 0; ///< scheduler threads; 0: one for each processor
  checkpoint_rhythm checkpoint;
  std::optional<double> eval_every; ///< epochs between evaluations; default: 20 evaluations a run
  /// Bytes from one worker to another that may be under way before its next step waits; absent: 8 models or MiB,
  /// whichever is more.
  std::optional<std::uint64_t> under_way;
  std::map<rank, double> slow; ///< workers that compute so many times slower

  /// Where relative paths of the data, of `initial` and of the model's file begin, on this machine; empty: where the
  /// process works. No part of the text: what is found there is compared, not where.
  std::string data_dir;
  /// The files that `files_of` names, where they are not where the text says; empty: they are.
  compute::data_files files;

  /// Ranks that workers may have: 0 .. worker_ranks() - 1, whether somebody has them or not. Masters have those behind.
  std::size_t worker_ranks() const noexcept { return max_workers.value_or(workers); }
};

/// What `files` has for `initial`, and for the file that the model itself is in: no data set calls one of its own so.
inline constexpr std::string_view initial_role = "initial model", model_role = "model";

/// The files that preparing the run reads where the text says that they are. They need not all be there.
/// @error as `compute::find_data`
compute::data_files files_of(const run_settings& s);

/// Everything in `run_settings` that can be said: the flags of commands, the keys of configurations, the lines of
/// `to_text`.
const settings_table<run_settings>& run_settings_table();

/// A TOML text, from which another process prepares the same run: see `fingerprint`.
std::string to_text(const run_settings& s);
/// @param source what the text is called in messages
/// @error errc::usage with source:line for what no run can be; what depends on other settings is checked by `prepare`
run_settings parse_run_settings(std::string_view text, const std::string& source);

} // namespace gossamer::actors
