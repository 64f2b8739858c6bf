#pragma once

#include "gossamer/actors/fetch/catalogue.hpp"
#include "gossamer/actors/runtime/endpoint.hpp"
#include "gossamer/actors/runtime/fingerprint.hpp"
#include "gossamer/actors/runtime/interface.hpp"
#include "gossamer/actors/worlds/chair_books.hpp"
#include "gossamer/actors/worlds/run_status.hpp"

#include <functional>
#include <limits>
#include <vector>

namespace gossamer::actors {

// How processes find each other before a run: one leads, and others join it.

/// node -> leader. It must read alike in every version, or nobody could say that versions differ.
struct join_request {
  std::uint32_t control = control_version;
  std::uint32_t slots = 1;           ///< its share of the workers, in proportion to that of others
  std::uint32_t wanted = any_number; ///< which it is to have

  static constexpr auto any_number = std::numeric_limits<std::uint32_t>::max(); // also 0 may have been lost
};

/// The files that the run is prepared from: who has them besides the one that offers them, and what they come to.
struct offered_files {
  std::vector<endpoint> members;       ///< the doors of other nodes, which are asked likewise
  std::uint64_t data = 0, initial = 0; ///< of its `fingerprint`
};

/// leader -> node: what to prepare
struct run_offer {
  std::uint32_t node = 0;             ///< the number it has from now on,
  std::uint32_t life = 0;             ///< and its life, see consensus::seats
  std::uint64_t run = 0;              ///< drawn at random: whoever knows it has been let in
  std::string settings;               ///< `to_text`
  std::string faults;                 ///< `to_toml`; empty: none
  std::uint64_t workers_per_node = 1; ///< for faults of nodes
  std::string checkpoints;            ///< folder for its parts of them; empty: none
  std::string resumed;                ///< folder of those that the run goes on from; empty: it begins
  std::uint64_t from = 0;             ///< which of them
  std::string folder;                 ///< of the run, where its leader writes; whoever follows it goes on there
  offered_files files;
};

/// node -> who wants to join, or asks how the run is: the chair's node listens there
struct ask_there {
  endpoint where;
};

/// leader -> node: this fault of the plan begins or ends
struct switch_fault {
  std::uint64_t index = 0;
  bool on = false;
};

/// chair -> node: the run is over, as planned unless `why` says otherwise
struct leave_run {
  std::string why;
  std::uint32_t resolution = 0; ///< the last one that the chair knows: one that was cut off may have a successor
  bool too_few = false;         ///< nodes are left to go on: whoever is there keeps what it has
};

struct greeting;
struct cluster_plan;

/// A node, as the others see it.
using node_interface =
    peer_interface::with<greeting, chair_books, cluster_plan, switch_fault, leave_request, leave_run>;

/// node -> node: this one is there, and can be spoken to; answered by the like
struct greeting {
  std::uint32_t node = 0;
  consensus::process self;
  node_interface::handle handle;
  bool is_answer = false;
};

/// node -> leader: it has prepared the run
struct node_ready {
  std::uint32_t node = 0;
  fingerprint print;
  endpoint data;    ///< where its data plane listens
  endpoint control; ///< where others reach its door
  node_interface::handle handle;
};

/// chair -> node: all are there; or, of a run that is under way, what whoever comes to it must know
struct cluster_plan {
  std::uint32_t nodes = 1;                   ///< those that may come some day among them
  std::vector<consensus::node_number> homes; ///< of each rank
  consensus::resolution last;                ///< with which the run begins; or that the chair knows
  node_interface::handle handle;             ///< the chair's
  bool begins = true;                        ///< the run; else it is under way
  double time_s = 0;                         ///< of the run, so far
  chair_books books;
};

/// The door of a node, as everybody sees it.
using door_interface =
    interface<join_request, node_ready, status_request, stop_request, leave_request, greeting, catalogue_request>;

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
decltype(auto) inspect(Inspector& f, greeting& m) {
  return f(m.node, m.self, m.handle, m.is_answer);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, node_ready& m) {
  return f(m.node, m.print, m.data, m.control, m.handle);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, cluster_plan& m) {
  return f(m.nodes, m.homes, m.last, m.handle, m.begins, m.time_s, m.books);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, switch_fault& m) {
  return f(m.index, m.on);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, leave_run& m) {
  return f(m.why, m.resolution, m.too_few);
}

/// Deals ranks out: workers in blocks of neighbouring ranks, in proportion to the slots; masters one after the other.
/// @param slots of each node, at least 1 each
std::vector<std::vector<rank>> deal_ranks(std::size_t workers, std::size_t masters,
                                          std::span<const std::uint32_t> slots);

/// Who has joined. Sent to the client when all nodes are ready.
struct assembly {
  struct member {
    node_ready ready;
    std::uint32_t slots = 1;
  };
  std::vector<member> nodes; ///< without the leader; numbered from 1 in this order
};

/// Why a node that speaks this version of the control messages cannot take part; nothing: it can.
std::optional<run_failed> refusal_of(const join_request& m);
/// Why none gets in: all places are taken, or the one that it wants; errc::failed says that this may pass.
/// @param flag with which a run has more of them
run_failed no_place(std::uint32_t wanted, std::size_t nodes, std::string_view flag);
/// Why one that has prepared this cannot.
std::optional<run_failed> refusal_of(const fingerprint& own, const node_ready& m);

struct rendezvous_setup {
  run_offer offer; ///< but for the number
  fingerprint print;
  std::size_t nodes = 0;                        ///< to wait for, without the leader
  std::function<void(const std::string&)> tell; ///< a line worth showing: who came, who was refused
  caf::actor client;                            ///< gets the `assembly`
  std::string algorithm = {};                   ///< for a `run_status`
  std::function<void()> stop = [] {};           ///< somebody asks for the end of the run. Threads: any
  caf::actor files = {};                        ///< see file_server.hpp
};

/// leader -> its door: the run has begun, and this node answers from now on
struct run_begins {
  caf::actor node;
};

/// The leader's door until the run begins. Answers a `join_request` with a `run_offer`, or a `run_failed` that says why
/// not; refuses who has prepared another run. Answers who asks how the run is, or for its end.
caf::actor spawn_rendezvous(caf::actor_system& system, rendezvous_setup setup);

/// All that nodes say to each other, made known to an actor system with a middleman.
void add_cluster_messages(caf::actor_system_config& config);

} // namespace gossamer::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::assembly)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_begins)
