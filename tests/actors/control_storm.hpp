#pragma once

#include <array>

#include "honest_nodes.hpp"

namespace gossamer::testing_support {

template <class... Messages>
struct message_types {
  static constexpr std::size_t count = sizeof...(Messages);
  /// Calls `action` with a pointer to each type.
  template <class Action>
  static void for_each(const Action& action) {
    (action(static_cast<Messages*>(nullptr)), ...);
  }
  /// Calls `action` with a pointer to the type of this index.
  template <class Action>
  static void with(std::size_t which, const Action& action) {
    std::size_t k = 0;
    ((k++ == which ? action(static_cast<Messages*>(nullptr)) : void()), ...);
  }
};
using node_messages = actors::messages_as<actors::node_interface, message_types>;
using door_messages = actors::messages_as<actors::door_interface, message_types>;

/// Says random messages to nodes and doors, in an order and by speakers that `draw` picks.
inline void storm(honest_nodes& nodes, const std::function<std::uint64_t()>& draw, int events) {
  for (int k = 0; k < events; ++k) {
    const auto to = static_cast<std::uint32_t>(draw() % honest_nodes::honest);
    const auto by = static_cast<honest_nodes::speaker>(draw() % 8 < 6 ? 0 : draw() % 3);
    const auto say = [&](auto* type) { nodes.say(by, to, nodes.draw<std::remove_pointer_t<decltype(type)>>(to)); };
    const auto say_at_the_door = [&](auto* type) {
      nodes.say_at_the_door(nodes.draw<std::remove_pointer_t<decltype(type)>>(to));
    };
    switch (draw() % 8) {
    case 0:
      door_messages::with(draw() % door_messages::count, say_at_the_door);
      break;
    case 1:
      door_messages::with(draw() % door_messages::count, say);
      break;
    case 2:
      nodes.pass_time();
      break;
    default:
      node_messages::with(draw() % node_messages::count, say);
    }
  }
}

/// Returns the damage that a storm has done. Empty: none.
inline std::string damage_to(const honest_nodes& nodes) {
  if (!nodes.door_lives())
    return "the door is gone";
  const bool is_told = nodes.broken().find("decided differently") != std::string::npos; // a lie that makes sense
  return is_told ? "" : nodes.broken();
}

} // namespace gossamer::testing_support
