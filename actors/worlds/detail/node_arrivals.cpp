// Who comes into a run that is under way, and who asks how it is.
#include "gossamer/actors/worlds/detail/node_state.hpp"

#include <caf/io/all.hpp>
#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

constexpr auto connect_again_after = std::chrono::seconds(1);

} // namespace

// -- the chair takes in who comes back --------------------------------------------------------------------------------

/// The number of a node that is lost; nothing else is free. @returns that of this node where there is none
std::uint32_t node_state::seat_for(std::uint32_t wanted) const {
  std::uint32_t found = setup_.number;
  for (const auto& other : others_->all())
    if (other.lost && !candidates_.contains(other.number) && (found == setup_.number || other.number == wanted))
      found = other.number;
  return found;
}

void node_state::on_join(const join_request& m) {
  if (auto why = refusal_of(m))
    return answer(*std::move(why));
  if (!office_)
    return answer(ask_there{setup_.nodes[protocol_->chair_node()].control});
  const auto number = seat_for(m.wanted);
  if (number == setup_.number)
    return answer(run_failed{errc::usage, fmt::format("the run has all of its {} nodes", setup_.nodes.size()),
                             "start a run with a higher --max-workers; a place is free again when its node is lost"});
  auto& entry = setup_.nodes[number];
  auto& next = candidates_[number];
  next = {caf::actor_cast<caf::actor_addr>(self_->current_sender()), ++entry.incarnation};
  self_->monitor(next.who);
  auto offer = setup_.offer;
  offer.node = number;
  offer.incarnation = next.incarnation;
  for (const auto& other : *others_)
    if (other.is_met() && !other.lost)
      offer.files.members.push_back(setup_.nodes[other.number].control);
  answer(std::move(offer));
}

void node_state::on_ready(const node_ready& m) {
  const auto found = candidates_.find(m.node);
  if (!office_ || found == candidates_.end() || found->second.who != self_->current_sender())
    return;
  if (m.handle == own_handle() || others_->behind(m.handle.address()) != nullptr)
    return; // of another node
  if (auto why = refusal_of(setup_.print, m)) {
    setup_.tell(fmt::format("node {} is refused: {}", m.node, why->sentence));
    candidates_.erase(found);
    return answer(*std::move(why));
  }
  auto& entry = setup_.nodes[m.node];
  const bool was_vacant = std::exchange(entry.vacant, false);
  entry.incarnation = found->second.incarnation;
  entry.data = m.data;
  entry.control = m.control;
  candidates_.erase(found);
  auto& node = *others_->numbered(m.node);
  if (node.is_met()) // one that is silent, and may live
    caf::anon_send_exit(node.handle, caf::exit_reason::kill);
  const cluster_plan plan{setup_.nodes, setup_.number, own_handle(), false, elapsed()};
  tell_others(plan);
  self_->send(m.handle, plan);
  self_->send(m.handle, begin_run{});
  tell_observer(fmt::format("node {} {}", m.node, was_vacant ? "has come" : "is back"));
  meet(node, entry.incarnation, m.handle);
}

// -- nodes meet -------------------------------------------------------------------------------------------------------

void node_state::meet(remote_node& other, std::uint32_t life, node_interface::handle handle) {
  const bool is_known = other.is_met() && other.handle == handle;
  other.handle = std::move(handle);
  other.life = life;
  if (std::exchange(other.lost, false))
    meet_on_data_plane();
  if (!is_known)
    self_->monitor(other.handle);
  on(consensus::health{other.number, life, consensus::health::state::well});
}

void node_state::on_greeting(const greeting& m) {
  auto* from = others_->numbered(m.node);
  if (from == nullptr || setup_.nodes[m.node].incarnation != m.life || is_expelled(m.node, m.life))
    return; // it will say so again when the chair has told who it is
  if (!m.is_answer)
    self_->send(m.handle, greeting{setup_.number, setup_.nodes[setup_.number].incarnation, own_handle(), true});
  meet(*from, m.life, m.handle);
}

/// Somebody is elsewhere now, or in another life, and will greet; or this is the first plan that this node sees.
void node_state::on_plan(const cluster_plan& m) {
  if (m.nodes.size() != setup_.nodes.size())
    return;
  for (auto& other : *others_) {
    const auto life = m.nodes[other.number].incarnation;
    const bool has_come = setup_.nodes[other.number].vacant && !m.nodes[other.number].vacant;
    if ((life > other.life || has_come) && other.number != m.chair) {
      other.handle = node_interface::handle{};
      other.life = life;
      other.lost = false;
    }
  }
  setup_.nodes = m.nodes;
  meet_on_data_plane();
}

/// Whoever came later connects: of two with which the run has begun, the one with the higher number.
void node_state::connect_to_strangers() {
  if (!setup_.connector || now() - last_connect_ < connect_again_after)
    return;
  last_connect_ = now();
  const auto own_life = setup_.nodes[setup_.number].incarnation;
  for (const auto& other : *others_) {
    const bool comes_to_us = own_life == 0 && (other.number > setup_.number || other.life > 0);
    if (other.is_met() || other.lost || comes_to_us || !connecting_.insert(other.number).second)
      continue;
    const auto& where = setup_.nodes[other.number].control;
    self_->request(setup_.connector, setup_.patience, caf::connect_atom::value, where.host, where.port)
        .then(
            [this, own_life, number = other.number](const caf::node_id&, const caf::strong_actor_ptr& door,
                                                    const std::set<std::string>&) {
              connecting_.erase(number);
              if (door)
                self_->send(caf::actor_cast<caf::actor>(door), greeting{setup_.number, own_life, own_handle(), false});
            },
            [this, number = other.number](const caf::error& why) {
              connecting_.erase(number);
              const bool is_refused = why != caf::sec::request_timeout; // else it may be cut off, and live
              if (is_refused && protocol_->delegate().health_of(number).is == consensus::health::state::suspected)
                lose(*others_->numbered(number), "nobody answers at its door");
            });
  }
}

// -- visitors ---------------------------------------------------------------------------------------------------------

void node_state::say_status(std::uint32_t control) {
  if (auto why = refusal_of(join_request{.control = control}))
    return answer(*std::move(why));
  if (!office_)
    return answer(ask_there{setup_.nodes[protocol_->chair_node()].control});
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
  answer(std::move(s));
}

void node_state::stop(std::uint32_t control) {
  if (control == control_version && office_)
    setup_.stop();
  say_status(control);
}

/// This node leaves; or the one that is meant hears of it, and need not answer.
void node_state::depart(const leave_request& m) {
  if (speaker() != nullptr)
    return obey(protocol_->leave());
  if (auto why = refusal_of(join_request{.control = m.control}))
    return answer(*std::move(why));
  const auto number = m.node == leave_request::whoever_is_asked ? setup_.number : m.node;
  const auto* other = others_->numbered(number);
  if (number != setup_.number && (other == nullptr || other->lost || !other->is_met()))
    return answer(run_failed{errc::usage, fmt::format("there is no node {}", number),
                             fmt::format("this is node {} of {}; gossamer status says how many are there",
                                         setup_.number, setup_.nodes.size())});
  for (rank i = 0; i < setup_.rules->homes.size(); ++i)
    if (setup_.rules->homes[i] == number && setup_.run->is_master(i))
      return answer(run_failed{
          errc::usage, fmt::format("node {} has {}, whose state nobody else has", number, setup_.run->name_of(i)),
          "gossamer stop ends the run; its other nodes may leave"});
  answer(will_leave{number});
  number == setup_.number ? obey(protocol_->leave()) : self_->send(other->handle, m);
}

} // namespace gossamer::actors::detail
