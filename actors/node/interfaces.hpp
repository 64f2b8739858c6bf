#pragma once

#include "gossamer/actors/hosting/interface.hpp"
#include "gossamer/actors/protocol/fingerprint.hpp"
#include "gossamer/actors/protocol/messages.hpp"

#include <caf/actor_system_config.hpp>

namespace gossamer::actors {

// Interfaces of actors in other processes, and the three messages that introduce such actors to each other: with their
// handles, which only CAF can write.

struct greeting;
struct cluster_plan;

/// A node, as the others see it: messages of the agreement, reports to the leader, and the leader's orders.
using node_interface =
    interface<consensus::hold, consensus::holding, consensus::propose, consensus::accepted, consensus::proceed,
              consensus::refused, consensus::wish, worker_joined, worker_paused, worker_finished, worker_lost,
              worker_waits, work_report, snapshot_taken, node_lost, run_failed, part_saved, part_not_saved, begin_run,
              kill_worker, restart_worker, retire_worker, pause_worker, snapshot_request, mean_request, mean_evaluated,
              run_progress, heartbeat, save_checkpoint, checkpoint_complete, greeting, run_books, cluster_plan,
              switch_fault, leave_request, leave_run>;

/// node -> node: the sender is there, and can be spoken to; answered by another greeting
struct greeting {
  std::uint32_t node = 0;
  consensus::process self;
  node_interface::handle handle;
  bool is_answer = false;
};

/// node -> leader: the sender has prepared the run
struct node_ready {
  std::uint32_t node = 0;
  fingerprint print;
  endpoint data;    ///< where its data plane listens
  endpoint control; ///< where others reach its door
  node_interface::handle handle;
};

/// leader -> node: all are there; or, in a run that is under way, all that a newcomer must know
struct cluster_plan {
  std::uint32_t nodes = 1;                   ///< number of nodes, with those that may come some day
  std::vector<consensus::node_number> homes; ///< node of each rank
  consensus::resolution last;                ///< the one with which the run begins, or that the leader knows
  node_interface::handle handle;             ///< the leader's
  bool begins = true;                        ///< true if the run begins; else it is under way
  double time_s = 0;                         ///< time of the run so far
  run_books books;
};

/// The door of a node, as any process sees it.
using door_interface = interface<join_request, node_ready, status_request, lines_request, stop_request, leave_request,
                                 greeting, catalogue_request>;

/// A node with the files of the run, as a newcomer sees it.
using files_interface = interface<catalogue_request, piece_request>;

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

/// Makes all messages between nodes known to an actor system with a middleman.
void add_control_messages(caf::actor_system_config& config);

} // namespace gossamer::actors
