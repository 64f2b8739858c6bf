#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

namespace gossamer::apps {

struct watch_options {
  std::string run; ///< a run folder
  live_options live{.where = "0"};
};

/// `gossamer watch RUN`: serves the page of a run that has been written down, or is just being, until an interrupt.
/// @returns the exit status @error errc::usage, errc::io, errc::bad_data
int watch(const program& p, const watch_options& o);

} // namespace gossamer::apps
