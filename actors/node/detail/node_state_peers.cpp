// A node's knowledge of the others: those that live, those that are silent, and those that do not reach each other.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

using lives_of_ranks = std::map<rank, std::uint32_t>;

bool are_members(const std::vector<rank>& ranks, const lives_of_ranks& lives) {
  return std::ranges::any_of(ranks, [&](rank i) { return lives.contains(i); });
}

/// True if each of these ranks that is a member now is in another life than before.
bool have_begun_anew(const std::vector<rank>& ranks, const lives_of_ranks& before, const lives_of_ranks& now) {
  return std::ranges::all_of(ranks, [&](rank i) {
    const auto found = now.find(i);
    const auto former = before.find(i);
    return found == now.end() || former == before.end() || former->second != found->second;
  });
}

} // namespace

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
    conflicts_.add(from == nullptr ? setup_.number : from->number, m.node, m.why, now());
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
  if (watched_.contains(number))
    others_->heard().heard(number, now());
  const bool is_barred = leadership_ && conflicts_.bars(number, now()); // it may well reach this node
  if (is_barred || seats()[number].is == consensus::health::state::well)
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

std::set<std::uint32_t> node_state::to_be_watched() {
  std::set<std::uint32_t> result = protocol_->delegate().last().voters;
  if (leadership_ || protocol_->delegate().asks()) // a node that does not answer must not be waited for for ever
    for (const auto& other : *others_)
      result.insert(other.number);
  return result;
}

void node_state::watch_nodes() {
  auto& heard = others_->heard();
  const auto now_watched = to_be_watched();
  for (const auto& other : *others_) {
    const bool is_wanted = now_watched.contains(other.number) && !seats().is_gone(other.number);
    if (is_wanted && watched_.insert(other.number).second)
      heard.heard(other.number, now());
    else if (!is_wanted && watched_.erase(other.number) > 0)
      heard.forget(other.number);
  }
  const auto& last = protocol_->delegate().last();
  if (std::exchange(resolution_, last.number()) != last.number() && watched_.contains(last.leader))
    heard.heard(last.leader, now()); // the resolution is news of it, if not from it
  for (const auto number : heard.silent(now())) {
    conflicts_.pardon(number);
    suspect(*others_->numbered(number),
            fmt::format("nothing has been heard of it for {:.3g} s", seconds{heard.patience()}.count()));
  }
  for (const auto& [number, why] : conflicts_.settle(now()))
    suspect(*others_->numbered(number), why);
  if (leadership_)
    lose_those_left_out();
  else
    review_losses();
  if (now() - last_heartbeat_ >= heartbeat_every)
    say_that_it_is_here();
  is_left_alone_ = last.number() > 0 && !last.elected_by(voters_left());
  if (is_left_alone_)
    fail({errc::failed, fmt::format("most of the {} nodes that vote on who takes part are lost", last.voters.size()),
          "a run goes on while more than half of them live; --resume goes on from a checkpoint"});
  if (protocol_->delegate().leader())
    alone_since_.reset();
  else if (now() - alone_since_.value_or(now()) > setup_.patience) {
    is_left_alone_ = true;
    fail(silent_leader(setup_.patience));
  } else
    alone_since_ = alone_since_.value_or(now());
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

/// Returns the voters that may answer some day. A restarted node is another voter.
std::set<std::uint32_t> node_state::voters_left() {
  const auto& last = protocol_->delegate().last();
  auto result = last.voters;
  for (const auto& other : *others_)
    if (seats().is_gone(other.number) || !last.knows(other.number, seats()[other.number].by.life))
      result.erase(other.number);
  return result;
}

/// Stops waiting for a node. It is not lost before most voters have agreed to go on without it: a node that is cut off
/// with few others must not end the many.
void node_state::suspect(remote_node& other, const std::string& why) {
  if (seats()[other.number].is != consensus::health::state::well)
    return;
  suspicions_[other.number] = why;
  if (!leadership_)
    setup_.client.tell(fmt::format("node {} is waited for: {}", other.number, why));
  on(consensus::health{other.number, seats()[other.number].by.life, consensus::health::state::suspected});
}

void node_state::lose_those_left_out() {
  const auto& lives = protocol_->delegate().last().what.view.lives;
  for (auto& other : *others_) {
    if (!are_members(other.ranks, lives) && seats()[other.number].is == consensus::health::state::suspected)
      lose(other, suspicions_[other.number]);
  }
}

/// Doubts losses that the leader does not see: not a process but a connection has ended, and frames to that node are
/// not sent any more. The leader hears of it as of two nodes that do not reach each other, and leaves one out. When
/// that is taken back, in other lives, the two meet again.
void node_state::review_losses() {
  const auto& last = protocol_->delegate().last();
  const auto& lives = last.what.view.lives;
  std::vector<rank> own;
  for (rank i = 0; i < setup_.rules->homes.size(); ++i)
    if (setup_.rules->homes[i] == setup_.number)
      own.push_back(i);
  for (const auto& other : *others_) {
    const auto life = seats()[other.number].by.life;
    if (!seats().is_gone(other.number) || is_expelled(other.number, life)) {
      doubts_.erase(other.number);
      continue;
    }
    auto& doubted = doubts_.try_emplace(other.number, doubt{now(), lives}).first->second;
    if (!last.knows(other.number, life) || !are_members(other.ranks, lives) || !are_members(own, lives))
      continue;
    if (have_begun_anew(other.ranks, doubted.lives, lives) || have_begun_anew(own, doubted.lives, lives)) {
      on(consensus::health{other.number, life, consensus::health::state::well});
      return meet_on_data_plane();
    }
    if (now() - doubted.since > conflicts::collected_for) {
      doubted.since = now();
      tell_leader(node_lost{other.number, "its connection has ended"});
    }
  }
}

/// Gives a node up. Its vote must not be counted upon.
void node_state::lose(remote_node& other, const std::string& why) {
  others_->heard().forget(other.number);
  conflicts_.forget(other.number);
  const auto was = seats()[other.number].is;
  if (was != consensus::health::state::gone) {
    const auto& members = protocol_->delegate().last().what.view.lives;
    const bool took_part = are_members(other.ranks, members);
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
