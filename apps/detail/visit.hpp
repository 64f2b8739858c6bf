#pragma once

#include "gossamer/apps/detail/node.hpp"

namespace gossamer::apps {

// Coming back to a run: to one that was launched here, by its folder, or to whoever leads one, by its HOST:PORT.

struct visit_options {
  std::string run;                     ///< a folder, or HOST:PORT; empty: the last run that was detached
  bool follow = false;                 ///< of `show_logs`: go on until the run ends
  std::optional<std::uint32_t> number; ///< of `leave_run`: which node; nothing: the one at HOST:PORT
  node_options node;                   ///< certs, insecure and patience, of HOST:PORT
};

/// All of these: @returns the exit status @error errc::usage when there is no such run; errc::failed when it has ended,
/// or its launch was killed; as `actors::ask_leader`

/// `gossamer status`: how far it is.
int show_status(const program& p, const visit_options& o);

/// `gossamer logs`: what the launch has shown.
int show_logs(const visit_options& o);

/// `gossamer stop`: ends it as Ctrl-C does, and waits until it has ended.
int stop_run(const program& p, const visit_options& o);

/// `gossamer leave`: lets a node hand over what it has, and end.
int leave_run(const program& p, const visit_options& o);

/// `gossamer attach`: shows what comes until its end. @returns the exit status of the run
int attach(const visit_options& o);

} // namespace gossamer::apps
