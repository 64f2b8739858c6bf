#pragma once

#include "gossamer/actors/data_plane/endpoint.hpp"
#include "gossamer/actors/runtime/coordinator.hpp"
#include "gossamer/actors/runtime/fingerprint.hpp"
#include "gossamer/actors/runtime/interface.hpp"
#include "gossamer/actors/worlds/run_status.hpp"

#include <functional>
#include <vector>

namespace gossamer::actors {

// How processes find each other before a run: one leads, and others join it.

/// node -> leader. It must read alike in every version, or nobody could say that versions differ.
struct join_request {
  std::uint32_t control = control_version;
  std::uint32_t slots = 1;  ///< its share of the workers, in proportion to that of others
  std::uint32_t wanted = 0; ///< the number that it would like to have; 0: any
};

/// leader -> node: what to prepare
struct run_offer {
  std::uint32_t incarnation = 0;      ///< how often a node of this number was lost before
  std::uint32_t node = 0;             ///< the number it has from now on
  std::uint64_t run = 0;              ///< drawn at random: whoever knows it has been let in
  std::string settings;               ///< `to_text`
  std::string faults;                 ///< `to_toml`; empty: none
  std::uint64_t workers_per_node = 1; ///< for faults of nodes
  std::string checkpoints;            ///< folder for its parts of them; empty: none
  std::string resumed;                ///< folder of those that the run goes on from; empty: it begins
  std::uint64_t from = 0;             ///< which of them
};

/// leader -> node: this fault of the plan begins or ends
struct switch_fault {
  std::uint64_t index = 0;
  bool on = false;
};

/// leader -> node: the run is over, as planned unless `why` says otherwise
struct leave_run {
  std::string why;
};

struct cluster_plan;
/// A node, as its leader and its coordinator see it.
using node_interface = ordered_interface::with<cluster_plan, switch_fault, leave_run>;

/// node -> leader: it has prepared the run
struct node_ready {
  std::uint32_t node = 0;
  fingerprint print;
  endpoint data; ///< where its data plane listens
  node_interface::handle handle;
};

/// One process of a run: where its data plane listens, and who lives there.
struct node_entry {
  std::uint32_t incarnation = 0;
  endpoint data;
  std::vector<rank> ranks;
};

/// leader -> node: all are there; again when one has come back
struct cluster_plan {
  std::vector<node_entry> nodes; ///< by number; 0 leads
  coordinator_interface::handle coordinator;
};

/// The leader's door, as everybody sees it.
using door_interface = interface<join_request, node_ready, status_request, stop_request>;

template <class Inspector>
decltype(auto) inspect(Inspector& f, join_request& m) {
  return f(m.control, m.slots, m.wanted);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_offer& m) {
  return f(m.incarnation, m.node, m.run, m.settings, m.faults, m.workers_per_node, m.checkpoints, m.resumed, m.from);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, endpoint& e) {
  return f(e.host, e.port);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, node_ready& m) {
  return f(m.node, m.print, m.data, m.handle);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, node_entry& e) {
  return f(e.incarnation, e.data, e.ranks);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, cluster_plan& m) {
  return f(m.nodes, m.coordinator);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, switch_fault& m) {
  return f(m.index, m.on);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, leave_run& m) {
  return f(m.why);
}

/// Deals ranks out: workers in blocks of neighbouring ranks, in proportion to the slots; masters one after the other.
/// @param slots of each node, at least 1 each
std::vector<std::vector<rank>> deal_ranks(std::size_t workers, std::size_t masters,
                                          std::span<const std::uint32_t> slots);

/// On which node the model of each worker and master is put aside for evaluations: its own, but those of masters on
/// node 0.
std::vector<std::uint32_t> homes_of(const std::vector<node_entry>& nodes, std::size_t workers,
                                    std::size_t participants);

/// Who has joined. Sent to the client when all nodes are ready.
struct assembly {
  struct member {
    node_ready ready;
    std::uint32_t slots = 1;
  };
  std::vector<member> nodes; ///< without the leader; numbered from 1 in this order
};

struct rendezvous_setup {
  run_offer offer; ///< but for the number
  fingerprint print;
  std::size_t nodes = 0;                        ///< to wait for, without the leader
  std::function<void(const std::string&)> tell; ///< a line worth showing: who came, who was refused
  /// The process of a node has been started again within the run. May be empty: then nobody can come back.
  std::function<void(const node_ready&, std::uint32_t incarnation)> on_return;
  caf::actor client; ///< gets the `assembly`
  /// What a `run_status` says, but for who is there. Threads: any
  std::function<progress_record()> progress = [] { return progress_record{}; };
  std::string algorithm = {};         ///< likewise
  std::function<void()> stop = [] {}; ///< somebody asks for the end of the run. Threads: any
};

/// The leader's door. Answers a `join_request` with a `run_offer`, or a `run_failed` that says why not; refuses who has
/// prepared another run. Answers who asks how the run is, or for its end.
caf::actor spawn_rendezvous(caf::actor_system& system, rendezvous_setup setup);

/// All that nodes say to each other, made known to an actor system with a middleman.
void add_cluster_messages(caf::actor_system_config& config);

} // namespace gossamer::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::assembly)
