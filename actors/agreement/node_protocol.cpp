#include "gossamer/actors/agreement/node_protocol.hpp"

#include "gossamer/actors/agreement/inspecting_archive.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

constexpr double ask_again_s = 1; // another worker may have waited for a state, or this one been the last with a model

using consensus::health;
using consensus::resolution;

node_protocol::node_protocol(const experiment& e, const consensus::charter& rules, node_number self,
                             const resolution& first)
    : run_(&e), rules_(&rules), delegate_(rules, self, first), leader_node_(first.leader) {
  for (rank i = 0; i < rules.homes.size(); ++i)
    if (rules.homes[i] == self)
      residents_[i].lives = residents_[i].has_state = first.what.view.lives.contains(i);
  if (leader_node_ == self)
    leader_.emplace(e, first);
}

node_protocol::node_protocol(const experiment& e, const consensus::charter& rules, node_number self,
                             const consensus::process& own)
    : run_(&e), rules_(&rules), delegate_(rules, self, own), leader_node_(self) {
  for (rank i = 0; i < rules.homes.size(); ++i)
    if (rules.homes[i] == self)
      residents_[i].waits = true;
}

node_protocol::orders node_protocol::begin() {
  orders out;
  for (const auto& [i, one] : residents_)
    if (one.lives)
      out.emplace_back(start_worker{i, 0});
  return out;
}

// -- other nodes ------------------------------------------------------------------------------------------------------

node_protocol::orders node_protocol::on(const consensus::message& m) {
  orders out;
  const auto* said = std::get_if<consensus::proceed>(&m);
  const bool is_old = said != nullptr && said->last.number() == delegate_.last().number();
  obey(delegate_.on(m), out);
  if (is_old) // the leader may not have known that it leads when this node reported
    report_again(out);
  return settled(out);
}

node_protocol::orders node_protocol::on(const health& h) {
  orders out;
  obey(delegate_.on(h), out);
  return settled(out);
}

node_protocol::orders node_protocol::on(const leader_report& m) {
  orders out;
  take(m, out);
  return settled(out);
}

// -- workers of this process ------------------------------------------------------------------------------------------

/// Returns null where this incarnation does not live here.
bool node_protocol::lives_here(rank i, std::uint32_t incarnation) const {
  const auto found = residents_.find(i);
  return found != residents_.end() && found->second.lives && found->second.incarnation == incarnation;
}

node_protocol::resident* node_protocol::living(rank i, std::uint32_t incarnation) {
  return lives_here(i, incarnation) ? &residents_.at(i) : nullptr;
}

node_protocol::orders node_protocol::on(const worker_holds& m) {
  orders out;
  if (m.round != round_ || asked_.erase(m.source) == 0)
    return out;
  standings_[m.source] = {
      .who = m.source, .incarnation = m.incarnation, .step = m.step, .next_exchange = m.next_exchange};
  if (asked_.empty())
    say_where_they_stand(out);
  return settled(out);
}

node_protocol::orders node_protocol::on(const worker_joined& m) {
  orders out;
  auto* one = living(m.source, m.incarnation);
  if (one == nullptr)
    return out;
  one->joined = one->has_state = true;
  obey(delegate_.on(consensus::state_taken{m.source, m.incarnation, m.step}), out);
  report(m, out);
  if (!delegate_.votes() && delegate_.last().voters.size() < consensus::most_voters)
    report(consensus::wish{}, out); // now that a model is here, this process may vote
  return settled(out);
}

node_protocol::orders node_protocol::on(const worker_paused& m) {
  orders out;
  auto* one = living(m.source, m.incarnation);
  if (one == nullptr)
    return out;
  one->paused = true;
  if (!synchronous())
    say_where_they_stand(out);
  report(m, out);
  return settled(out);
}

node_protocol::orders node_protocol::on(const worker_finished& m) {
  orders out;
  auto* one = living(m.source, m.incarnation);
  if (one == nullptr)
    return out;
  one->finished = true;
  report(m, out);
  return settled(out);
}

/// Starts a lost master anew at once, unless a fault plan brings it back.
node_protocol::orders node_protocol::on(const worker_lost& m) {
  orders out;
  if (living(m.who, m.incarnation) != nullptr)
    end_life(m.who, is_master(m.who) && !away_.contains(m.who), out);
  return settled(out);
}

node_protocol::orders node_protocol::on(const retire_worker& m) {
  orders out;
  const auto found = residents_.find(m.who);
  if (found == residents_.end() || !found->second.lives || is_master(m.who))
    return out;
  found->second.retires = true;
  found->second.returns = false;
  ask_to_leave(out);
  return settled(out);
}

node_protocol::orders node_protocol::leave() {
  orders out;
  for (auto& [i, one] : residents_) {
    one.retires = one.lives && !is_master(i);
    one.waits = false;
  }
  leaves_ = true;
  delegate_.leave();
  ask_to_leave(out);
  return settled(out);
}

void node_protocol::ask_to_leave(orders& out) {
  asked_to_leave_s_ = now_s_;
  if (!synchronous())
    say_where_they_stand(out);
  report(consensus::wish{}, out);
}

bool node_protocol::somebody_retires() const {
  return std::ranges::any_of(residents_, [](const auto& r) { return r.second.lives && r.second.retires; });
}

node_protocol::orders node_protocol::on(const kill_worker& m) {
  if (m.comes_back)
    away_.insert(m.who);
  const auto found = residents_.find(m.who);
  if (found == residents_.end() || !found->second.lives)
    return {};
  found->second.killed = true;
  return {stop_worker{m.who}};
}

node_protocol::orders node_protocol::on(const restart_worker& m) {
  orders out;
  const auto found = residents_.find(m.who);
  if (found == residents_.end())
    return out;
  away_.erase(m.who);
  auto& one = found->second;
  if (m.if_gone && one.lives && !one.killed) {
    one.returns |= std::exchange(one.retires, leaves_);
    return out;
  }
  if (one.lives) // its death has not been noticed, or it is not dead at all
    out.emplace_back(stop_worker{m.who});
  end_life(m.who, !leaves_, out);
  return settled(out);
}

/// Ends the life of a worker. Answers last: a resolution may follow at once, in which the worker begins another life.
/// @param comes_again true if it shall be started anew
void node_protocol::end_life(rank i, bool comes_again, orders& out) {
  auto& one = residents_[i];
  const bool lived = std::exchange(one.lives, false);
  one.waits = comes_again;
  if (lived)
    report(worker_lost{i, one.incarnation}, out);
  if (comes_again)
    report(worker_waits{i}, out);
  one.retires = one.paused = one.returns = one.killed = false;
  const bool was_last = asked_.erase(i) != 0 && asked_.empty();
  if (!synchronous() || was_last)
    say_where_they_stand(out);
}

void node_protocol::ask_workers(orders& out) {
  ++round_;
  asked_.clear();
  standings_.clear();
  for (const auto& [i, one] : residents_)
    if (one.lives)
      asked_.insert(i);
  if (asked_.empty())
    say_where_they_stand(out);
  else
    out.emplace_back(hold_steps{round_});
}

void node_protocol::say_where_they_stand(orders& out) {
  consensus::workers_stand all;
  for (const auto& [i, one] : residents_)
    if (one.lives) {
      const auto said = standings_.find(i);
      auto& w = all.where.emplace_back(
          said != standings_.end() ? said->second : consensus::standing{.who = i, .incarnation = one.incarnation});
      w.retires = one.retires;
      w.paused = one.paused;
    } else if (one.waits) {
      all.anew.push_back({.who = i, .incarnation = one.incarnation, .ended = is_master(i) && one.has_state});
    }
  obey(delegate_.on(all), out);
}

// -- time -------------------------------------------------------------------------------------------------------------

node_protocol::orders node_protocol::on(const time_is& m) {
  orders out;
  now_s_ = m.now_s;
  if (leader_)
    follow_leader(leader_->on(m), out);
  if ((leaves_ || somebody_retires()) && !has_left_ && now_s_ - asked_to_leave_s_ >= ask_again_s)
    ask_to_leave(out);
  return settled(out);
}

/// Lets the delegate act of its own accord at once, and again after each resolution that follows from that.
node_protocol::orders node_protocol::settled(orders& out) {
  const auto is_resolution = [](const auto& one) { return std::holds_alternative<consensus::adopt>(one); };
  for (bool again = true; again;) {
    const auto done = delegate_.on(consensus::clock_says{now_s_});
    again = std::ranges::any_of(done, is_resolution);
    obey(done, out);
  }
  return std::move(out);
}

void node_protocol::fields(archive& a) {
  delegate_.fields(a);
  for (auto& [i, one] : residents_)
    a(one.incarnation)(one.lives)(one.waits)(one.finished)(one.joined)(one.retires)(one.paused)(one.returns)(
        one.killed)(one.has_state);
  consensus::inspecting_archive all{a};
  all(away_, round_, asked_, standings_, leader_node_, now_s_, parting_);
  bool has_leader = leader_.has_value();
  a(leaves_)(has_left_)(asked_to_leave_s_)(has_leader);
  if (!has_leader)
    leader_.reset();
  else if (!leader_)
    leader_.emplace(*run_, delegate_.last());
  if (leader_)
    leader_->fields(a);
}

} // namespace gossamer::actors
