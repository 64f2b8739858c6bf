// A node's actions on resolutions, and while it leads.
#include "gossamer/actors/agreement/node_protocol.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

using consensus::health;
using consensus::resolution;

void node_protocol::obey(const consensus::orders& all, orders& out) {
  for (const auto& one : all)
    if (const auto* letter = std::get_if<consensus::post>(&one)) {
      out.emplace_back(*letter);
    } else if (const auto* next = std::get_if<consensus::adopt>(&one)) {
      if (!next->moved.empty())
        out.emplace_back(nodes_moved{next->moved});
      enter(*next, out);
    } else if (std::holds_alternative<consensus::hold_workers>(one)) {
      ask_workers(out);
    } else { // a node that is merely silent may still have a model
      bool somebody_may_come = false;
      for (node_number n = 0; n < rules_->nodes; ++n)
        somebody_may_come |= seats()[n].is == health::state::suspected;
      if (leader_ && !somebody_may_come)
        follow_leader(leader_->on(consensus::models_are_lost{}), out);
      else if (!somebody_may_come) // the leader has died with them, and no resolution will make this node the next
        out.emplace_back(extinction());
    }
}

/// Starts workers that have another life in the view. A worker that is left out stands still, and keeps its model.
void node_protocol::enter(const consensus::adopt& m, orders& out) {
  const auto& r = m.what;
  asked_.clear();
  bool somebody_is_left_out = false, stand_otherwise = false;
  std::vector<rank> returning;
  for (auto& [i, one] : residents_) {
    const auto member = r.what.view.lives.find(i);
    const bool takes_part = member != r.what.view.lives.end() && r.knows(delegate_.self(), delegate_.life());
    if (!takes_part && one.lives && one.paused && parting_.heirs.contains(i)) {
      out.emplace_back(stop_worker{i});
      one = {.incarnation = one.incarnation, .waits = one.returns && !leaves_};
      stand_otherwise = true;
      if (one.waits)
        returning.push_back(i);
    }
    one.paused = one.paused && r.what.parting == parting_;
    somebody_is_left_out |= !takes_part && one.lives;
    if (!takes_part || member->second == one.incarnation)
      continue;
    if (one.lives)
      out.emplace_back(stop_worker{i});
    one = {.incarnation = member->second,
           .lives = true,
           .retires = !is_master(i) && (one.retires || leaves_), // the request is older than this life
           .has_state = one.has_state,
           .returns = one.returns};
    stand_otherwise |= one.retires;
    out.emplace_back(start_worker{i, member->second});
  }
  if (somebody_is_left_out)
    out.emplace_back(hold_steps{++round_, true});
  parting_ = r.what.parting;
  out.emplace_back(r.what);
  seat_leader(r, m.before, out);
  if (stand_otherwise && !synchronous())
    say_where_they_stand(out);
  for (const auto i : returning)
    report(worker_waits{i}, out);
  const bool takes_part = std::ranges::any_of(residents_, [](const auto& one) { return one.second.lives; });
  if (leaves_ && !takes_part && !delegate_.votes() && !std::exchange(has_left_, true))
    out.emplace_back(node_has_left{});
}

void node_protocol::seat_leader(const resolution& r, const resolution& before, orders& out) {
  const auto former = std::exchange(leader_node_, r.leader);
  const bool is_mine = r.leader == delegate_.self() && r.knows(delegate_.self(), delegate_.life());
  if (leader_ && !is_mine) {
    out.emplace_back(lead_left{});
    leader_.reset();
  }
  if (!leader_ && is_mine) {
    leader_.emplace(*run_, r);
    out.emplace_back(lead_taken{});
    if (before.number() > 0)
      follow_leader(leader_->take_over(before.what), out);
    report_again(out);
  } else if (leader_) {
    leader_->forget_waiting([&](rank i) { return !r.nodes.contains(rules_->homes[i]); });
    follow_leader(leader_->on(r), out);
  } else if (former != leader_node_) {
    out.emplace_back(account_for{leader_node_});
    report_again(out);
  }
}

std::optional<consensus::candidacy> node_protocol::keep_seat(std::optional<node_number> wanted) {
  return leader_ ? delegate_.keep_seat(wanted) : std::nullopt;
}

bool node_protocol::is_current(rank i, std::uint32_t life) const {
  return leader_ ? leader_->members().is_current(i, life) : lives_here(i, life);
}

bool node_protocol::has_living_members() const {
  return std::ranges::any_of(delegate_.last().what.view.lives, [this](const auto& one) {
    const auto home = rules_->homes[one.first];
    return home == delegate_.self() ? lives_here(one.first, one.second) : !seats().is_gone(home);
  });
}

// -- the leader -------------------------------------------------------------------------------------------------------

void node_protocol::follow_leader(const coordination::orders& all, orders& out) {
  for (const auto& what : all)
    std::visit(
        [&](const auto& one) {
          if constexpr (std::is_same_v<std::decay_t<decltype(one)>, consensus::wish>)
            report(one, out);
          else
            out.emplace_back(one);
        },
        what);
}

/// Sends a report to the leader. A wish goes to the node that should lead; the two differ for a moment only.
void node_protocol::report(const leader_report& m, orders& out) {
  const auto* wanted = std::get_if<consensus::wish>(&m);
  const auto to = wanted ? delegate_.leader().value_or(delegate_.self()) : leader_node_;
  if (to != delegate_.self())
    out.emplace_back(report_to{to, m});
  else
    take(m, out);
}

void node_protocol::take(const leader_report& m, orders& out) {
  std::visit(
      [&](const auto& one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, consensus::wish>)
          obey(delegate_.on(one), out);
        else if (leader_)
          follow_leader(leader_->on(one), out);
      },
      m);
}

/// Repeats the state of all workers to a new leader, which has not heard it.
void node_protocol::report_again(orders& out) {
  for (const auto& [i, one] : residents_) {
    if (one.joined)
      report(worker_joined{i, one.incarnation, 0}, out);
    if (one.paused)
      report(worker_paused{i, one.incarnation}, out);
    if (one.finished)
      report(worker_finished{i, one.incarnation}, out);
    if (!one.lives)
      report(worker_lost{i, one.incarnation}, out);
    if (one.waits)
      report(worker_waits{i}, out);
  }
}

} // namespace gossamer::actors
