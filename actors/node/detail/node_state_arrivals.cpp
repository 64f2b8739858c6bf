// Newcomers to a run that is under way, and requests for its status.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <caf/io/all.hpp>
#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

constexpr auto connect_again_after = std::chrono::seconds(1);
constexpr auto longest_on_the_way = std::chrono::seconds(1);

} // namespace

// -- the leader takes in newcomers ------------------------------------------------------------------------------------

void node_state::on_join(const join_request& m) {
  if (auto why = refusal_of(m))
    return answer(*std::move(why));
  if (!leadership_)
    return send_on();
  const auto seat = seat_for(caf::actor_cast<caf::actor_addr>(self_->current_sender()), m.wanted);
  if (!seat)
    return answer(no_place(m.wanted, seats().size(), "a higher --max-workers"));
  auto offer = setup_.others.offer;
  offer.node = seat->node;
  offer.life = seat->life;
  for (const auto& other : *others_)
    if (is_spoken_to(other))
      offer.files.members.push_back(seats()[other.number].by.control);
  answer(std::move(offer));
}

/// Returns the seat that is kept for this process, or else keeps one. Who asks again has waited too long for an answer,
/// and may take that one when it comes.
std::optional<consensus::candidacy> node_state::seat_for(const caf::actor_addr& who, std::uint32_t wanted) {
  const bool any_will_do = wanted == join_request::any_number;
  if (const auto found = candidates_.find(who); found != candidates_.end()) {
    const auto& kept = found->second;
    if (seats()[kept.node].kept_for == kept.life && (any_will_do || kept.node == wanted))
      return kept;
    release_candidate(who);
  }
  const auto seat = protocol_->keep_seat(any_will_do ? std::nullopt : std::optional{wanted});
  if (seat) {
    candidates_[who] = *seat;
    self_->monitor(who);
  }
  return seat;
}

void node_state::release_candidate(const caf::actor_addr& who) {
  if (const auto found = candidates_.extract(who))
    protocol_->release_seat(found.mapped());
}

void node_state::on_ready(const node_ready& m) {
  const auto who = caf::actor_cast<caf::actor_addr>(self_->current_sender());
  const auto found = candidates_.find(who);
  if (found == candidates_.end() || found->second.node != m.node)
    return;
  if (m.handle == own_handle() || others_->behind(m.handle.address()) != nullptr)
    return; // the handle of another node
  const consensus::process comes{found->second.life, m.data, m.control};
  auto why = refusal_of(setup_.others.print, m);
  const bool was_taken = seats()[m.node].taken;
  const bool is_admitted = !why && leadership_ && protocol_->admit(m.node, comes);
  release_candidate(who);
  if (why) {
    refusals_.tell(fmt::format("node {} is refused: {}", m.node, why->sentence), setup_.client.tell);
    return answer(*std::move(why));
  }
  if (!is_admitted) // a node that was silent keeps its place, or another one leads by now: a place may be free there
    return send_on();
  auto& node = *others_->numbered(m.node);
  if (node.is_met()) // a former life that is silent, and may live
    caf::anon_send_exit(node.handle, caf::exit_reason::kill);
  self_->send(m.handle, cluster_plan{setup_.rules->nodes, setup_.rules->homes, protocol_->delegate().last(),
                                     own_handle(), false, elapsed(), known_books()});
  self_->send(m.handle, begin_run{});
  tell_observer(event_kind::arrival, fmt::format("node {} {}", m.node, was_taken ? "is back" : "has come"));
  meet(node, m.handle);
}

// -- nodes meet -------------------------------------------------------------------------------------------------------

void node_state::meet(remote_node& other, node_interface::handle handle) {
  const bool is_known = other.is_met() && other.handle == handle;
  other.handle = std::move(handle);
  strangers_.erase(other.number);
  if (!is_known) {
    self_->monitor(other.handle);
    meet_on_data_plane();
  }
  on(consensus::health{other.number, seats()[other.number].by.life, consensus::health::state::well});
}

/// Admits a node that a leader admitted which has died since.
void node_state::on_greeting(const greeting& m) {
  auto* from = others_->numbered(m.node);
  if (from == nullptr || vigil_->has_expelled(m.node, m.self.life))
    return;
  const auto& seat = seats()[m.node];
  const bool is_known = seat.taken && seat.by.life == m.self.life;
  if (!is_known && !protocol_->admit(m.node, m.self))
    return; // it greets again when a resolution has named it
  if (!m.is_answer)
    self_->send(m.handle, greeting{setup_.number, protocol_->delegate().own(), own_handle(), true});
  meet(*from, m.handle);
}

/// True if this node connects to another. The node that came later connects; of two founders, the one with the higher
/// number. A node that should have connected, and has not, may have died as soon as it was let in: then its door does
/// not answer.
bool node_state::is_stranger(const remote_node& other) {
  const auto& seat = seats()[other.number];
  if (other.is_met() || !seat.taken || seats().is_gone(other.number)) {
    strangers_.erase(other.number);
    return false;
  }
  const auto own = std::pair{protocol_->delegate().life(), setup_.number};
  const auto since = strangers_.try_emplace(other.number, now()).first->second;
  return own > std::pair{seat.by.life, other.number} || now() - since > longest_on_the_way;
}

void node_state::connect_to_strangers() {
  if (!setup_.others.connector || now() - last_connect_ < connect_again_after)
    return;
  last_connect_ = now();
  for (const auto& other : *others_)
    if (is_stranger(other) && connecting_.insert(other.number).second)
      connect_to(other);
}

void node_state::connect_to(const remote_node& other) {
  const auto [life, where] = std::pair{seats()[other.number].by.life, seats()[other.number].by.control};
  self_->request(setup_.others.connector, setup_.patience, caf::connect_atom::value, where.host, where.port)
      .then(
          [this, number = other.number](const caf::node_id&, const caf::strong_actor_ptr& door,
                                        const std::set<std::string>&) {
            connecting_.erase(number);
            if (door)
              self_->send(caf::actor_cast<caf::actor>(door),
                          greeting{setup_.number, protocol_->delegate().own(), own_handle(), false});
          },
          [this, life = life, number = other.number](const caf::error& why) {
            connecting_.erase(number);
            auto& node = *others_->numbered(number);
            const bool is_refused = why != caf::sec::request_timeout; // else it may be cut off, and live
            if (is_refused && !node.is_met() && seats()[number].by.life == life && !seats().is_gone(number))
              lose(node, "nobody answers at its door");
          });
}

// -- visitors ---------------------------------------------------------------------------------------------------------

void node_state::say_status(std::uint32_t control) {
  if (auto why = refusal_of(control))
    return answer(*std::move(why));
  if (!leadership_)
    return send_on();
  const auto p = progress(elapsed());
  run_status s{.algorithm = setup_.run->algorithm->about.name,
               .nodes = static_cast<std::uint32_t>(p.nodes),
               .there = static_cast<std::uint32_t>(p.nodes - p.nodes_lost),
               .begun = true,
               .epoch = p.epoch,
               .planned_epochs = p.planned_epochs,
               .loss = p.loss,
               .time_s = p.time_s,
               .steps_per_second = p.steps_per_second,
               .bits_per_second = p.bits_per_second,
               .remaining_s = p.remaining_s};
  if (p.accuracy)
    s.accuracy = *p.accuracy;
  if (p.averagings_per_step)
    s.averagings_per_step = *p.averagings_per_step;
  answer(std::move(s));
}

void node_state::say_lines(const lines_request& m) {
  if (auto why = refusal_of(m.control))
    return answer(*std::move(why));
  if (!leadership_)
    return send_on();
  run_lines all{.leader = setup_.number, .next = m.next};
  setup_.client.read_lines(all);
  for (const auto& other : *others_)
    if (is_spoken_to(other) && all.doors.size() < run_lines::most_doors)
      all.doors.push_back(seats()[other.number].by.control);
  answer(std::move(all));
}

void node_state::stop(std::uint32_t control) {
  if (control == control_version && leadership_)
    setup_.client.stop();
  say_status(control);
}

/// Lets this node leave, or tells the node that is meant, which need not answer.
void node_state::depart(const leave_request& m) {
  if (speaker() != nullptr)
    return obey(protocol_->leave());
  if (auto why = refusal_of(m.control))
    return answer(*std::move(why));
  const auto number = m.node == leave_request::whoever_is_asked ? setup_.number : m.node;
  const auto* other = others_->numbered(number);
  if (number != setup_.number && (other == nullptr || !is_spoken_to(*other)))
    return answer(run_failed{
        errc::usage, fmt::format("there is no node {}", number),
        fmt::format("this is node {} of {}; gossamer status says how many are there", setup_.number, seats().size())});
  for (rank i = 0; i < setup_.rules->homes.size(); ++i)
    if (setup_.rules->homes[i] == number && setup_.run->is_master(i))
      return answer(run_failed{
          errc::usage, fmt::format("node {} has {}, whose state nobody else has", number, setup_.run->name_of(i)),
          "gossamer stop ends the run; its other nodes may leave"});
  answer(will_leave{number});
  number == setup_.number ? obey(protocol_->leave()) : self_->send(other->handle, m);
}

} // namespace gossamer::actors::detail
