#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <string>
#include <vector>

namespace gossamer::apps {

/// `gossamer train`. @returns the exit status
int train(const program& p, run_options options, bool json);

/// `gossamer simulate`. @returns the exit status
int simulate(const program& p, run_options options, bool json);

/// `gossamer list KIND`. @error errc::usage on an unknown kind
void list(const program& p, const std::string& kind, bool json);

/// `gossamer explain NAME`: prints every registry entry of that name. @error errc::usage when there is none
void explain(const program& p, const std::string& name);

struct plot_options {
  std::vector<std::string> runs; ///< folders
  std::string x = "seconds", y = "train-loss";
  std::string out = "comparison.svg";
};

/// `gossamer plot RUN...`: one picture of several runs.
/// @error errc::usage on unknown axes; errc::io and errc::bad_data when a run cannot be read or the picture not written
void plot(const plot_options& options);

} // namespace gossamer::apps
