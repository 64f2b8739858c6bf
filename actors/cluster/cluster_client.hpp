#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/actors/protocol/run_status.hpp"

#include <memory>
#include <optional>

namespace gossamer::actors {

/// Asks the leader of a run at `where` for its status. Takes part in nothing.
/// @param s only `where`, `threads`, `patience`, `interrupted` and `shows` count
/// @error errc::io when no process leads a run there, or the process there does not answer for the patience;
///        errc::usage when the leader is of another version
run_status ask_leader(const node_settings& s);

/// Looks on at a run from elsewhere: the run loses nothing by it. Follows the lead from node to node. Threads: one.
class onlooker {
public:
  /// @error as `ask_leader`
  explicit onlooker(const node_settings& s);
  onlooker(const onlooker&) = delete;
  onlooker& operator=(const onlooker&) = delete;
  ~onlooker();

  /// Returns the lines since the last call, as `run_lines` says. Those of another leader follow on the ones before, and
  /// have no line {"type":"begin"}.
  /// @error errc::io when no node of the run answers now: it may be over, or will have another leader
  std::vector<std::string> look();

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Ends the run as an interrupt of its leader does, and waits until its leader has written it down and is gone.
/// @error as `ask_leader`; errc::failed when the waiting is interrupted: the run ends all the same
void stop_cluster(const node_settings& s);

/// Asks a node to leave the run: its workers hand over what they have, and its process ends.
/// @param s `where`: that of any node that takes part
/// @param node its number; `nullopt`: the one at `where`
/// @returns its number @error as `ask_leader`; errc::usage when there is no such node, or it has a master
std::uint32_t let_leave(const node_settings& s, std::optional<std::uint32_t> node);

} // namespace gossamer::actors
