#pragma once

#include "gossamer/actors/node/rendezvous.hpp"

#include <concepts>
#include <optional>

namespace gossamer::actors {

/// A run, as far as control messages are held against it.
struct known_run {
  const consensus::charter* rules;
  const consensus::resolution* last;        ///< that is known here
  std::size_t workers;                      ///< ranks that they may have; those of masters follow
  std::optional<consensus::node_number> by; ///< who says it; nothing: none of the other nodes, or not known
  caf::strong_actor_ptr sender = nullptr;   ///< likewise
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

// Whether a message says what can be. A node asks before it does anything with what another one says, so that nonsense
// costs its sender and not its receiver: numbers of nodes, ranks and sizes are within those of the run, counts are such
// that sums of them do not overflow, texts are no longer than anybody writes, handles are there, and nodes speak for
// nobody but themselves and their workers. What makes sense may still be a lie, as of who is trusted.
//
// Every message of `node_interface` and `door_interface` has a check, or a node does not compile.
//
// @error errc::bad_packet says what cannot be

template <one_of<heartbeat, begin_run, status_request, stop_request, leave_request, switch_fault, snapshot_request,
                 catalogue_request, join_request, node_ready>
              Message>
void check(const Message&, const known_run&) {} // any value will do, or is answered with what is wrong with it

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
void check(const run_progress& m, const known_run& run);
void check(const save_checkpoint& m, const known_run& run);
void check(const checkpoint_complete& m, const known_run& run);
void check(const run_books& m, const known_run& run);
void check(const leave_run& m, const known_run& run);

void check(const greeting& m, const known_run& run);
void check(const cluster_plan& m, const known_run& run);

// Where no run is known yet.

void check(const join_request& m);
void check(const node_ready& m);
void check(const run_offer& m);
/// The first one that a node gets. @param self its number
void check(const cluster_plan& m, consensus::node_number self, std::size_t participants);

} // namespace gossamer::actors
