#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace gossamer::apps {

/// `gossamer train`. @returns the exit status
int train(train_options options, bool json);

/// `gossamer list KIND`. @error errc::usage on an unknown kind
void list(const std::string& kind, bool json);

/// `gossamer explain NAME`: prints every registry entry of that name. @error errc::usage when there is none
void explain(const std::string& name);

struct plot_options {
  std::vector<std::string> runs; ///< folders
  std::string x = "seconds", y = "train-loss";
  std::string out = "comparison.svg";
};

/// `gossamer plot RUN...`: one picture of several runs.
/// @error errc::usage on unknown axes; errc::io and errc::bad_data when a run cannot be read or the picture not written
void plot(const plot_options& options);

} // namespace gossamer::apps
