#pragma once

#include "gossamer/apps/detail/attempt.hpp"

namespace gossamer::apps {

/// A simulation that failed, and how to see it again.
struct failure {
  run_setup run; ///< with the seed, the interleaving and the plan that failed
  errc code;     ///< of the error that ended it
  std::string message;
  bool needs_process = false; ///< the run does not end by itself
};

/// Writes the plan of a failure beside `folder`'s other files. Says on standard output which run failed, under which
/// plan, and which command shows it again.
void report(const program& p, const failure& f, const std::string& folder, const attempt_options& how);

/// Looks for the smallest plan under which the run still fails in the same way, and reports that. The way of a failure
/// is its code and its sentence up to the first semicolon, but for numbers.
void report_shrunk(const program& p, const failure& f, const std::string& folder, const attempt_options& how);

/// Returns a command for a POSIX shell with every option that is not the default.
std::string replay_command(const program& p, const run_options& o, const std::vector<std::string>& more);

} // namespace gossamer::apps
