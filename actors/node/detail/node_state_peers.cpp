// A node's knowledge of the others: those that live, those that are silent, and those that do not reach each other.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

void node_state::on_down(const caf::down_msg& down) {
  if (const auto loss = own_node_->died(down))
    return notice(*loss);
  release_candidate(down.source);
  if (auto* other = others_->behind(down.source)) {
    other->handle = node_interface::handle{};
    if (farewells_) { // it has ended as it was told
      farewells_->erase(other->number);
      return farewells_->empty() ? self_->quit() : void();
    }
    lose(*other, "its process is gone");
    return meet_on_data_plane();
  }
  if (evaluator_.address() == down.source)
    fail({errc::failed, "the evaluation died: " + to_string(down.reason), {}});
}

/// Where the run is over, it is so for all: nobody goes on without those whose failure has ended it.
void node_state::notice(const worker_lost& loss) {
  if (ended_)
    return;
  if (setup_.detection.count() == 0)
    on(loss);
  else
    self_->delayed_send(self_, setup_.detection, loss);
}

/// Two nodes do not reach each other.
void node_state::on_complaint(const node_lost& m) {
  const bool is_own = self_->current_sender() == nullptr; // of the data plane of this process
  if (!leadership_)
    return is_own ? tell_leader(m) : void();
  const auto* from = speaker();
  const auto* about = others_->numbered(m.node);
  if ((is_own || from != nullptr) && (m.node == setup_.number || (about != nullptr && !seats().is_gone(m.node))))
    vigil_->complain(from == nullptr ? setup_.number : from->number, m.node, m.why, now());
}

remote_node* node_state::speaker() {
  const auto& sender = self_->current_sender();
  auto* found = sender ? others_->behind(sender->address()) : nullptr;
  return found != nullptr && is_spoken_to(*found) ? found : nullptr;
}

void node_state::hear() {
  auto* from = self_->current_sender() ? others_->behind(self_->current_sender()->address()) : nullptr;
  if (from == nullptr)
    return;
  const auto number = from->number;
  if (!vigil_->hear(number, seats(), now()))
    return;
  if (seats().is_gone(number))
    tell_observer(event_kind::arrival, fmt::format("node {} is heard again", number));
  on(consensus::health{number, seats()[number].by.life, consensus::health::state::well});
}

/// Tells the data plane of silent nodes, too: frames for them wait.
void node_state::meet_on_data_plane() {
  std::map<consensus::node_number, consensus::process> there{{setup_.number, protocol_->delegate().own()}};
  for (const auto& other : *others_)
    if (const auto& seat = seats()[other.number]; seat.taken && (other.is_met() || !seats().is_gone(other.number)))
      there.emplace(other.number, seat.by);
  setup_.others.meet(there);
}

vigil::outlook node_state::outlook() const {
  const auto& agreement = protocol_->delegate();
  return {agreement.last(), seats(), agreement.asks(), agreement.leader().has_value()};
}

void node_state::watch_nodes() {
  for (const auto& one : vigil_->suspects(outlook(), now()))
    suspect(one);
  if (!leadership_)
    review_losses();
  else
    for (const auto& one : vigil_->left_out(outlook()))
      lose(*others_->numbered(one.node), one.why);
  if (now() - last_heartbeat_ >= heartbeat_every)
    say_that_it_is_here();
  is_left_alone_ = vigil_->lacks_quorum(outlook());
  if (is_left_alone_ && !protocol_->has_living_members())
    fail(extinction()); // more voters would not help
  else if (is_left_alone_)
    fail({errc::failed,
          fmt::format("most of the {} nodes that vote on who takes part are lost", outlook().last.voters.size()),
          "a run goes on while more than half of them live; --resume goes on from a checkpoint"});
  if (vigil_->lacks_leader(outlook(), now())) {
    is_left_alone_ = true;
    fail(silent_leader(setup_.patience));
  }
}

void node_state::say_that_it_is_here() {
  last_heartbeat_ = now();
  const auto& agreement = protocol_->delegate();
  if (leadership_ || agreement.votes())
    tell_others(heartbeat{.watched = is_watched()});
  else if (const auto* asker = others_->numbered(agreement.promised().node);
           agreement.holds() && asker != nullptr && is_spoken_to(*asker))
    self_->send(asker->handle, heartbeat{}); // a worker may take long to hold
  if (leadership_)
    tell_voters_of_books();
}

/// Stops waiting for a node. It is not lost before most voters have agreed to go on without it: a node that is cut off
/// with few others must not end the many.
void node_state::suspect(const vigil::suspicion& s) {
  if (!leadership_)
    setup_.client.tell(fmt::format("node {} is waited for: {}", s.node, s.why));
  on(consensus::health{s.node, s.life, consensus::health::state::suspected});
}

void node_state::review_losses() {
  const auto found = vigil_->doubt(outlook(), now());
  for (const auto number : found.of)
    tell_leader(node_lost{number, "its connection has ended"});
  if (const auto back = found.is_taken_back) {
    on(consensus::health{*back, seats()[*back].by.life, consensus::health::state::well});
    meet_on_data_plane();
  }
}

/// Gives a node up. Its vote must not be counted upon.
void node_state::lose(remote_node& other, const std::string& why) {
  vigil_->forget(other.number);
  const auto was = seats()[other.number].is;
  if (was != consensus::health::state::gone) {
    const bool took_part = vigil_->has_members(other.number, protocol_->delegate().last().what.view.lives);
    const bool was_suspected = was == consensus::health::state::suspected; // and a resolution may have left it out
    auto news = took_part || was_suspected ? fmt::format("node {} is lost: {}", other.number, why)
                                           : fmt::format("node {} has left", other.number);
    if (!observer_ && other.number == protocol_->leader_node())
      leaders_end_ = std::move(news);
    else
      tell_observer(event_kind::loss, news);
    for (const auto i : other.ranks)
      if (leadership_ && i < workers()) // a master's model has come here, or does not count
        leadership_->evaluating.lose(i);
  }
  on(consensus::health{other.number, seats()[other.number].by.life, consensus::health::state::gone});
  if (!leadership_)
    return;
  evaluate_next();
  if (protocol_->leader()->over() && leadership_->evaluating.done() && !leadership_->final_is_known)
    fail(extinction()); // the last models were on that node
}

} // namespace gossamer::actors::detail
