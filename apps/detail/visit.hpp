#pragma once

#include "gossamer/apps/detail/node.hpp"

namespace gossamer::apps {

// Later commands about a run: one that was launched here is named by its folder, another one by its leader's HOST:PORT.

struct visit_options {
  std::string run;                     ///< a folder, or HOST:PORT; empty: the last run that was detached
  bool follow = false;                 ///< for `show_logs`: go on until the run ends
  std::optional<std::uint32_t> number; ///< for `leave_run`: the node's number; `nullopt`: the node at HOST:PORT
  node_options node;                   ///< certs, insecure and patience, for HOST:PORT
};

/// True if this is no folder here, but may be the address of a run elsewhere.
bool is_address(const std::string& run);

/// Returns the settings to reach the run at an address. @error errc::usage without credentials, or if they would travel
/// in the open
actors::node_settings settings_of_visit(const program& p, const visit_options& o);

/// All functions below: @returns the exit status @error errc::usage when there is no such run; errc::failed when it has
/// ended, or its launch was killed; as `actors::ask_leader`

/// `gossamer status`: prints the progress of the run.
int show_status(const program& p, const visit_options& o);

/// `gossamer logs`: prints the output of the launch.
int show_logs(const visit_options& o);

/// `gossamer stop`: ends the run as Ctrl-C does, and waits until it has ended.
int stop_run(const program& p, const visit_options& o);

/// `gossamer leave`: lets a node hand over its state, and end.
int leave_run(const program& p, const visit_options& o);

/// `gossamer attach`: shows the output until the run ends. @returns the exit status of the run
int attach(const visit_options& o);

} // namespace gossamer::apps
