#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

struct advise_options {
  std::vector<std::string> job;        ///< flags of `simulate` for all runs
  std::string hosts;                   ///< file of `gossamer measure`; empty: `job` names the network
  std::optional<double> accuracy = {}; ///< the test accuracy that is to be reached, from 0 to 1
  std::optional<double> loss = {};     ///< the training loss that is to be reached
  std::string out = "advice";          ///< folder of results
  std::size_t jobs = 0;                ///< processes at the same time; 0: one for each processor
  double run_limit_s = 3600;
};

/// Refuses flags of `simulate` that `advise` gives to its runs itself. @error errc::usage
void check_not_chosen(const std::vector<std::string>& words);

/// `gossamer advise`: simulates a short list of algorithms with their codecs on a network, each with the best of the
/// same multiples of the rate that its optimiser suggests, and ranks them by the virtual seconds until a test accuracy
/// or training loss. Without one it is a test accuracy of one point less than all-reduce SGD's in the end, or, where
/// the model knows no accuracy, a training loss of 1.05 times its. All runs have the seed of the job.
/// @param understand parses flags as `gossamer simulate` does
/// @returns 0, or 128 + signal when it was interrupted
/// @error errc::usage on a wrong flag; errc::failed also when nothing reaches the target; errc::io
int advise(const program& p, const advise_options& o,
           const std::function<run_options(const std::vector<std::string>&)>& understand);

} // namespace gossamer::apps
