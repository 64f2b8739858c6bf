#pragma once

#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/protocol/checkpoints.hpp"
#include "gossamer/actors/protocol/versions.hpp"
#include "gossamer/base/error.hpp"

#include <limits>
#include <string>
#include <vector>

namespace gossamer::actors {

// Messages by which a process finds a run, is let in, and learns of the end.

/// node -> leader. It must read alike in every version: otherwise no node could say that versions differ.
struct join_request {
  std::uint32_t control = control_version;
  std::uint32_t slots = 1;           ///< its share of the workers, in proportion to the shares of others
  std::uint32_t wanted = any_number; ///< the node number that it asks for

  static constexpr auto any_number = std::numeric_limits<std::uint32_t>::max(); // 0 is a node that may have been lost
};

/// The files that the run is prepared from: further nodes that have them, and hashes of their content.
struct offered_files {
  std::vector<endpoint> members;       ///< doors of other nodes that can be asked, too
  std::uint64_t data = 0, initial = 0; ///< as in the `fingerprint`
};

/// leader -> node: the run to prepare
struct run_offer {
  std::uint32_t node = 0;             ///< the receiver's number from now on
  std::uint32_t life = 0;             ///< the receiver's life (consensus::seats)
  std::uint64_t run = 0;              ///< drawn at random: a process that knows it has been let in
  std::string settings;               ///< `to_text`
  std::string faults;                 ///< `to_toml`; empty: none
  std::uint64_t workers_per_node = 1; ///< for faults of nodes
  std::string checkpoints;            ///< folder for its parts of checkpoints; empty: none
  std::string resumed;                ///< folder of the checkpoint that the run goes on from; empty: it begins
  manifest from;                      ///< the checkpoint in that folder; a newcomer need not have any of it
  std::string folder;                 ///< the run's folder, where its leader writes; a later leader goes on there
  offered_files files;
};

/// node -> process that wants to join, or asks for the status: the leader's node listens there
struct ask_there {
  endpoint where;
};

/// leader -> node: this fault of the plan begins or ends
struct switch_fault {
  std::uint64_t index = 0;
  bool on = false;
  std::string fault = {}; ///< its text, where faults come while the run goes on; else the node knows the plan
};

/// leader -> node: the run is over, as planned unless `why` says otherwise
struct leave_run {
  std::string why;
  std::uint32_t resolution = 0; ///< the last one that the leader knows: a leader that was cut off may have a successor
  bool too_few = false;         ///< too few nodes are left to go on: each keeps what it has
  errc code = errc::failed;     ///< kind of the error that `why` tells
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, join_request& m) {
  return f(m.control, m.slots, m.wanted);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, offered_files& m) {
  return f(m.members, m.data, m.initial);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_offer& m) {
  return f(m.node, m.life, m.run, m.settings, m.faults, m.workers_per_node, m.checkpoints, m.resumed, m.from, m.folder,
           m.files);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, ask_there& m) {
  return f(m.where);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, switch_fault& m) {
  return f(m.index, m.on, m.fault);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, leave_run& m) {
  return f(m.why, m.resolution, m.too_few, m.code);
}

} // namespace gossamer::actors
