#pragma once

#include "gossamer/actors/runtime/consensus/delegate.hpp"

#include <caf/behavior.hpp>
#include <caf/typed_actor.hpp>

#include <tuple>
#include <type_traits>

namespace gossamer::actors {

/// What an actor in another process can be told. Both ends are checked by the compiler: a handle of this type accepts
/// nothing else, and the behaviour behind it handles all of it.
///
/// The actors themselves stay dynamically typed. CAF's typed ones send to typed ones only (workers, evaluator, tests),
/// must handle everything in every state (a node leaves orders in its mailbox until it knows the plan), and know no
/// messages besides (a node's own ticks, what workers of its process say).
template <class... Messages>
struct interface {
  using handle = caf::typed_actor<caf::reacts_to<Messages>...>;
  template <class... More>
  using with = interface<Messages..., More...>;

  /// @param handlers of all messages, and of others that come from its own process
  template <class... Handlers>
  static caf::behavior behaviour(std::tuple<Handlers...> handlers) {
    static_assert((is_handled<Messages, Handlers...> && ...), "a message of the interface has no handler");
    return std::apply([](auto&... each) { return caf::behavior{std::move(each)...}; }, handlers);
  }

private:
  template <class Message, class... Handlers>
  static constexpr bool is_handled = (std::is_invocable_v<Handlers&, Message&> || ...);
};

/// A node, as the others see it: how they agree, what is told to the one that has the chair, and what that one orders.
using peer_interface =
    interface<consensus::hold, consensus::holding, consensus::propose, consensus::accepted, consensus::proceed,
              consensus::refused, consensus::wish, worker_joined, worker_paused, worker_finished, worker_lost,
              worker_waits, work_report, snapshot_taken, node_lost, run_failed, part_saved, part_not_saved, begin_run,
              kill_worker, restart_worker, retire_worker, pause_worker, snapshot_request, mean_request, run_progress,
              heartbeat, save_checkpoint, checkpoint_complete>;

} // namespace gossamer::actors
