#pragma once

#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/actors/node/rendezvous.hpp"

#include <concepts>
#include <optional>

namespace gossamer::actors {

/// The facts of a run that control messages are checked against.
struct known_run {
  const consensus::charter* rules;
  const consensus::resolution* last;        ///< the last one that is known here
  std::size_t workers;                      ///< number of ranks for workers; those of masters follow
  std::optional<consensus::node_number> by; ///< the sending node; `nullopt`: none of the other nodes, or not known
  caf::strong_actor_ptr sender = nullptr;   ///< the sending actor; null: not known
};

template <class Message, class... Others>
concept one_of = (std::same_as<Message, Others> || ...);

/// The messages of an interface, as a list of types.
template <class Interface, template <class...> class List>
struct messages_of;
template <class... Messages, template <class...> class List>
struct messages_of<interface<Messages...>, List> {
  using type = List<Messages...>;
};
template <class Interface, template <class...> class List>
using messages_as = typename messages_of<Interface, List>::type;

// Checks that a message is possible. A node checks every message of another node before it acts on it, so that nonsense
// costs its sender and not its receiver: numbers of nodes, ranks and sizes are within those of the run, sums of counts
// do not overflow, texts are no longer than any node writes, handles are there, and a node speaks only for itself and
// its workers. A message that makes sense may still be a lie, as that of any trusted node.
//
// Every message of `node_interface` and `door_interface` has a check, or a node does not compile.
//
// @error errc::bad_packet says what cannot be

template <one_of<heartbeat, begin_run, status_request, lines_request, stop_request, leave_request, snapshot_request,
                 catalogue_request, join_request, node_ready>
              Message>
void check(const Message&, const known_run&) {} // any value will do, or is answered with what is wrong with it

void check(const switch_fault& m, const known_run& run);

/// @error errc::failed where nodes have decided differently: then the run cannot go on
void check(const consensus::hold& m, const known_run& run);
void check(const consensus::holding& m, const known_run& run);
void check(const consensus::propose& m, const known_run& run);
void check(const consensus::accepted& m, const known_run& run);
void check(const consensus::proceed& m, const known_run& run);
void check(const consensus::refused& m, const known_run& run);
void check(const consensus::wish& m, const known_run& run);

void check(const worker_joined& m, const known_run& run);
void check(const worker_paused& m, const known_run& run);
void check(const worker_finished& m, const known_run& run);
void check(const worker_lost& m, const known_run& run);
void check(const worker_waits& m, const known_run& run);
void check(const work_report& m, const known_run& run);
void check(const snapshot_taken& m, const known_run& run);
void check(const part_saved& m, const known_run& run);
void check(const part_not_saved& m, const known_run& run);
void check(const node_lost& m, const known_run& run);
void check(const run_failed& m, const known_run& run);

void check(const kill_worker& m, const known_run& run);
void check(const restart_worker& m, const known_run& run);
void check(const retire_worker& m, const known_run& run);
void check(const pause_worker& m, const known_run& run);
void check(const mean_request& m, const known_run& run);
void check(const mean_evaluated& m, const known_run& run);
void check(const run_progress& m, const known_run& run);
void check(const save_checkpoint& m, const known_run& run);
void check(const checkpoint_complete& m, const known_run& run);
void check(const run_books& m, const known_run& run);
void check(const leave_run& m, const known_run& run);

void check(const greeting& m, const known_run& run);
void check(const cluster_plan& m, const known_run& run);

// Checks where no run is known yet.

void check(const join_request& m);
void check(const node_ready& m);
void check(const run_offer& m);
/// Checks the first plan that a node gets. @param self the node's number
void check(const cluster_plan& m, consensus::node_number self, std::size_t participants);

} // namespace gossamer::actors
