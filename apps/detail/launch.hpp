#pragma once

#include "gossamer/apps/detail/hosts.hpp"
#include "gossamer/apps/detail/node.hpp"

namespace gossamer::apps {

/// `gossamer launch`: starts the nodes of a run on this machine and others, and shows it as if it were one process.
struct launch_options {
  std::string hosts = "localhost:2";
  std::size_t restarts = 0;   ///< how often nodes that end are started again, all together
  double restart_delay_s = 0; ///< from a node's end to its next start
  bool dry_run = false;       ///< only say which commands would start the nodes
  bool detach = false;        ///< leave the run behind when it is under way, and give the terminal back
  node_options node;          ///< of each of them
};

/// @error errc::usage unless the first host can be reached, in a way that is safe or that the user insists on
void require_reachable(const std::vector<host>& hosts, const node_options& node);

/// Adds the flags that a node on that host is given, whatever it does there.
void add_common(std::vector<std::string>& words, const host& where, const node_options& node);

/// @param job the words behind `--`: what the nodes are to train @returns the exit status
int launch(const program& p, const launch_options& how, const run_options& job, const std::vector<std::string>& words);

} // namespace gossamer::apps
