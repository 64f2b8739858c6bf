// An impossible message costs its sender the run, and no other node.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

/// @error errc::failed when nodes have decided differently: that is not for one of them to pay
bool node_state::passes(const std::function<void(const known_run&)>& check_message) {
  auto* from = self_->current_sender() ? others_->behind(self_->current_sender()->address()) : nullptr;
  if (from != nullptr && vigil_->has_expelled(from->number, seats()[from->number].by.life))
    return false;
  try {
    check_message({.rules = setup_.rules.get(),
                   .last = &protocol_->delegate().last(),
                   .workers = workers(),
                   .by = from ? std::optional{from->number} : std::nullopt,
                   .sender = self_->current_sender()});
    return true;
  } catch (const error& e) {
    if (e.code() != errc::bad_packet)
      throw;
    if (from != nullptr)
      expel(*from, e.sentence());
    return false;
  }
}

/// Tells the node's process to end, and the leader why, in case that it does not.
void node_state::expel(remote_node& other, const std::string& why) {
  vigil_->expel(other.number, seats()[other.number].by.life);
  if (!leadership_)
    setup_.client.tell(fmt::format("node {} is given up: {}", other.number, why));
  if (!leadership_ && other.number != protocol_->leader_node())
    tell_leader(node_lost{other.number, why});
  caf::anon_send_exit(other.handle, caf::exit_reason::kill);
  lose(other, why);
}

} // namespace gossamer::actors::detail
