#pragma once

#include "gossamer/apps/detail/setup.hpp"
#include "gossamer/base/error.hpp"

#include <vector>

namespace gossamer::apps {

/// Outcome of a simulation that ran in a process of its own.
struct attempt {
  bool failed = false;
  bool too_long = false;
  errc code = errc::failed; ///< of the error that ended it, if it failed
  std::string message = {}; ///< likewise
  std::uint64_t hash = 0;
  double train_loss = 0; ///< at the end
};

/// How several simulations run.
struct attempt_options {
  std::size_t jobs = 0;                              ///< at the same time; 0: one for each processor
  double run_limit_s = 3600;                         ///< real seconds; a run that takes longer has failed
  bool twice = false;                                ///< run everything twice, and fail unless the hashes are equal
  std::function<bool()> stop = [] { return false; }; ///< true leaves out runs that have not ended yet
};

/// Simulates in this process, without a run folder or a trace. @error the error that ended the run
actors::simulation_result simulate_silently(const run_setup& run);

/// @error errc::failed when the hashes of two runs with the same settings differ
void expect_same_hash(std::uint64_t first, std::uint64_t second);

/// Simulates `count` runs, each in a process of its own, as `in_processes` does.
/// @param run_of sets up a run, in its process
/// @error errc::usage when a request is refused, which is no failure of a run
void attempt_all(std::size_t count, const attempt_options& how, const std::function<run_setup(std::size_t)>& run_of,
                 const std::function<bool(std::size_t, const attempt&)>& on_end);

} // namespace gossamer::apps
