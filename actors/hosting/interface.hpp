#pragma once

#include <caf/behavior.hpp>
#include <caf/typed_actor.hpp>

#include <tuple>
#include <type_traits>

namespace gossamer::actors {

/// The messages that an actor in another process accepts. Both ends are checked by the compiler: a handle of this type
/// accepts nothing else, and the behaviour behind it handles all of it.
///
/// The actors themselves stay dynamically typed. CAF's typed ones send to typed ones only (workers, evaluator, tests),
/// must handle everything in every state (a node leaves orders in its mailbox until it knows the plan), and know no
/// messages besides (a node's own ticks, messages of workers of its process).
template <class... Messages>
struct interface {
  using handle = caf::typed_actor<caf::reacts_to<Messages>...>;

  /// @param handlers for all messages, and for others that come from its own process
  template <class... Handlers>
  static caf::behavior behaviour(std::tuple<Handlers...> handlers) {
    static_assert((is_handled<Messages, Handlers...> && ...), "a message of the interface has no handler");
    return std::apply([](auto&... each) { return caf::behavior{std::move(each)...}; }, handlers);
  }

private:
  template <class Message, class... Handlers>
  static constexpr bool is_handled = (std::is_invocable_v<Handlers&, Message&> || ...);
};

} // namespace gossamer::actors
