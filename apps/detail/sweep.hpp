#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gossamer::apps {

struct sweep_options {
  std::vector<std::string> vary = {}; ///< "KEY=VALUE VALUE ...": all combinations are run
  std::string seeds = {};             ///< "A..B"; empty: the job's one
  std::string out = "sweep";          ///< a folder with a run folder for each run
  std::string by = "accuracy";        ///< accuracy or train-loss: what is best
  std::size_t jobs = 0;               ///< processes at the same time; 0: one for each processor
  double run_limit_s = 86'400;        ///< real seconds; a run that takes longer has failed
  std::vector<std::string> job = {};  ///< "simulate" or "train", and flags
};

/// One setting of a sweep.
struct sweep_point {
  std::vector<std::string> values = {}; ///< of each key that varies
  std::string seed = {};                ///< empty: the job's

  friend bool operator==(const sweep_point&, const sweep_point&) = default;
};

/// The settings of a sweep, the last key varying fastest, seeds faster still.
struct sweep_grid {
  std::vector<std::string> keys = {};
  std::vector<sweep_point> points = {};
};

/// @error errc::usage on a key without values or given twice, on very many points, on the key out, and on the key seed
///        beside `seeds`
sweep_grid grid_of(const sweep_options& o);

/// `gossamer sweep`: makes all runs of a grid that `out` does not hold yet, in processes of their own, and prints a
/// table, best first. A run that diverges is a result. A run is made again when a file that it reads, or the program,
/// has changed; folders of other runs stay as they are.
/// @param understand parses a job's words: "simulate" or "train", and flags
/// @returns 0, or 128 + signal when it was interrupted
/// @error errc::usage, errc::io; errc::failed when a run fails, with the command that shows it
int sweep(const program& p, const sweep_options& o,
          const std::function<run_options(const std::vector<std::string>&)>& understand);

} // namespace gossamer::apps
