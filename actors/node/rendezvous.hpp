#pragma once

#include "gossamer/actors/node/interfaces.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gossamer::actors {

// Meeting of the processes before a run: one leads, and others join it.

/// Deals ranks out: workers in blocks of neighbouring ranks, in proportion to the slots; masters one after the other.
/// @param slots of each node, at least 1 each
std::vector<std::vector<rank>> deal_ranks(std::size_t workers, std::size_t masters,
                                          std::span<const std::uint32_t> slots);

/// The nodes that have joined. Sent to the client when all are ready.
struct assembly {
  struct member {
    node_ready ready;
    std::uint32_t slots = 1;
  };
  std::vector<member> nodes; ///< without the leader; numbered from 1 in this order
};

/// Returns why a process that speaks this version of the control messages gets no answer; `nullopt` if it gets one.
std::optional<run_failed> refusal_of(std::uint32_t control);
/// Returns why a process that asks so cannot take part; `nullopt` if it can.
std::optional<run_failed> refusal_of(const join_request& m);
/// Returns why no node gets in: all places are taken, or the wanted one; errc::failed says that this may pass. There is
/// no such place: errc::usage.
/// @param flag the option that gives a run more places
run_failed no_place(std::uint32_t wanted, std::size_t nodes, std::string_view flag);
/// Returns why a node that has prepared this cannot take part; `nullopt` if it can.
std::optional<run_failed> refusal_of(const fingerprint& own, const node_ready& m);

struct rendezvous_setup {
  run_offer offer; ///< without the number
  fingerprint print;
  std::size_t nodes = 0;                        ///< number to wait for, without the leader
  std::function<void(const std::string&)> tell; ///< a line worth showing: a node came, or was refused; the same
                                                ///< refusal once, and not more than some of them
  caf::actor client;                            ///< gets the `assembly`
  std::string algorithm = {};                   ///< its name, for a `run_status`
  std::function<void()> stop = [] {};           ///< a process asks for the end of the run. Threads: any
  caf::actor files = {};                        ///< the file server (file_server.hpp)
  bool may_grow = false;                        ///< more nodes than these may come once the run has begun
};

/// leader -> its door: the run has begun, and this node answers from now on
struct run_begins {
  caf::actor node;
};

/// leader -> its door: there will be no run
struct run_called_off {
  run_failed why; ///< for those who wait
};

/// Spawns the leader's door, until the run begins. Answers a `join_request` with a `run_offer`, or a `run_failed` that
/// says why not; refuses a node that has prepared another run. Answers requests for the status or the end of the run.
/// On `run_called_off` it tells all who wait, and ends when they are gone.
caf::actor spawn_rendezvous(caf::actor_system& system, rendezvous_setup setup);

} // namespace gossamer::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::assembly)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_begins)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_called_off)
