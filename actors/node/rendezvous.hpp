#pragma once

#include "gossamer/actors/fetch/catalogue.hpp"
#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/hosting/interface.hpp"
#include "gossamer/actors/protocol/run_books.hpp"
#include "gossamer/actors/protocol/fingerprint.hpp"
#include "gossamer/actors/protocol/run_status.hpp"

#include <functional>
#include <limits>
#include <vector>

namespace gossamer::actors {

// How processes find each other before a run: one leads, and others join it.

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

} // namespace gossamer::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::assembly)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_begins)
