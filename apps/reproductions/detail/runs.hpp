#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"
#include "gossamer/apps/reproductions/detail/findings.hpp"

namespace gossamer::apps {

/// How the runs of a reproduction are made.
struct run_maker {
  const program& self;
  std::function<run_options(const flags&)> understand; ///< parses flags of `gossamer simulate`
  flags more = {};                                     ///< behind all others, which they override
  std::filesystem::path folder;                        ///< has a file for each run; one with its key is not repeated
  std::size_t jobs = 0;                                ///< processes at the same time; 0: one for each processor
  double run_limit_s = 3600;                           ///< real seconds; a run that takes longer has failed
};

/// Returns the flags of one run. @param rate position in `r.rates`; ignored when there are none
/// @param seed ignored when `r.seeds` is 0
flags flags_of(const reproduction& r, const variant& method, const variant& setting, std::size_t rate,
               std::uint64_t seed, const flags& more);

/// Refuses flags of the user that a reproduction compares: it gives them to its runs itself.
/// @error errc::usage
void check_not_compared(const reproduction& r, const flags& more);

/// Makes all runs that have no file with their key, in processes of their own, with progress on a terminal's standard
/// error, and gathers the results of all.
///
/// Requires that no other thread exists.
/// @error errc::usage for flags that are refused, or that `more` has and the reproduction sweeps; errc::failed when a
///        run fails in another way than by divergence, with the command that shows it; errc::interrupted after Ctrl-C;
///        errc::io
findings carry_out(const reproduction& r, const run_maker& how);

} // namespace gossamer::apps
