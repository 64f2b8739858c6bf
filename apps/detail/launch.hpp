#pragma once

#include "gossamer/apps/detail/hosts.hpp"
#include "gossamer/apps/detail/node.hpp"

namespace gossamer::apps {

/// `gossamer launch`: starts the nodes of a run on this machine and others, and shows it as if it were one process.
struct launch_options {
  std::string hosts = "localhost:2";
  std::size_t restarts = 0;   ///< number of times that nodes are started again, all together
  double restart_delay_s = 0; ///< from a node's end to its next start
  bool dry_run = false;       ///< only print the commands that would start the nodes
  live_options live;
  bool report = true; ///< whoever leads in the end writes report.html
  ui shown = ui::live;
  std::string trace;   ///< file for a picture of all nodes; empty: none
  bool detach = false; ///< leave the run behind when it is under way, and give the terminal back
  node_options node;   ///< options of each node
};

/// @error errc::usage unless the first host can be reached, in a way that is safe or that the user insists on
void require_reachable(const std::vector<host>& hosts, const node_options& node);

/// Adds the flags that every node on that host gets.
void add_common(std::vector<std::string>& words, const host& where, const node_options& node);

/// What the nodes of a launch do: the words behind `--`.
struct launched_job {
  run_options options;            ///< the words, read
  std::vector<std::string> words; ///< "train", and flags
  /// A program that is started instead of `gossamer node`: it finds the words of its node in GOSSAMER_NODE, and brings
  /// the model and the other flags itself (`run_embedded`). Empty: none.
  std::vector<std::string> program = {};
};

/// @returns the exit status
int launch(const program& p, const launch_options& how, const launched_job& job);

} // namespace gossamer::apps
