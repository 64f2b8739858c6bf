#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/visit.hpp"

namespace gossamer::apps {

struct watch_options {
  visit_options run; ///< a run folder, or HOST:PORT of a node that takes part
  live_options live{.where = "0"};
};

/// `gossamer watch`: serves the page of a run that has been written down, or is just being, or goes on elsewhere, until
/// an interrupt.
/// @returns the exit status @error errc::usage, errc::io, errc::bad_data; as `actors::ask_leader`
int watch(const program& p, const watch_options& o);

} // namespace gossamer::apps
