#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gossamer::apps {

struct reproduce_options {
  std::vector<std::string> names;
  bool all = false; ///< instead of names
  bool list = false;
  bool page = false; ///< run nothing, and print a page of the results in `out`
  bool quick = false;
  std::string out = "reproductions"; ///< folder of results
  std::string data, model;           ///< replace those of the reproduction; empty: do not
  std::vector<std::string> more;     ///< flags of `simulate` for all runs; they override others
  std::size_t jobs = 0;              ///< processes at the same time; 0: one for each processor
  double run_limit_s = 3600;
};

/// Refuses flags in `more` that one of the reproductions compares, or that all there are do. Other names may be wrong.
/// @error errc::usage
void check_not_compared(const reproduce_options& o);

/// `gossamer reproduce`: makes tables and figures of papers again.
/// @param understand parses flags as `gossamer simulate` does
/// @returns 0, or 128 + signal when it was interrupted
/// @error errc::usage on a wrong name or flag; errc::failed also when a required shape has not come back; errc::io
int reproduce(const program& p, const reproduce_options& o,
              const std::function<run_options(const std::vector<std::string>&)>& understand);

} // namespace gossamer::apps
