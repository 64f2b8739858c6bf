// The part of every node: promise, answer, accept, and follow resolutions.
#include "gossamer/actors/agreement/delegate.hpp"

#include "gossamer/actors/agreement/validation.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors::consensus {

delegate::delegate(const charter& rules, node_number self, const resolution& first)
    : delegate(rules, self, first.nodes.contains(self) ? first.nodes.at(self) : process{}, first) {
  std::erase_if(workers_, [&](const auto& one) { return !first.what.view.lives.contains(one.first); });
  for (auto& [i, w] : workers_)
    w.line = first.number();
}

delegate::delegate(const charter& rules, node_number self, const process& own)
    : delegate(rules, self, own, resolution{}) {}

delegate::delegate(const charter& rules, node_number self, const process& own, const resolution& last)
    : rules_(&rules), self_(self), own_(own), hosts_workers_(rules.nodes), last_(last), seats_(rules.nodes) {
  GOSSAMER_ASSERT(self < rules.nodes, "the number of a node is one of those of the run");
  for (rank i = 0; i < rules.homes.size(); ++i) {
    hosts_workers_[rules.homes[i]] = true;
    if (rules.homes[i] == self)
      workers_[i].who = i;
  }
  has_members_ = nodes_with_members(last_);
  seats_.meet(self, own);
  if (last.number() > 0)
    seats_.adopt(last);
}

// -- messages ---------------------------------------------------------------------------------------------------------

orders delegate::on(const message& m) {
  orders out;
  std::visit(
      [&](const auto& one) {
        validate(one, *rules_, last_);
        receive(one, out);
      },
      m);
  return out;
}

void delegate::receive(const hold& m, orders& out) {
  learn(m.last, out);
  if (refuses(m.by, m.last, out))
    return;
  promise(m.by);
  if (!std::exchange(held_, true)) {
    held_since_s_ = now_s_;
    if (!can_answer())
      out.emplace_back(hold_workers{});
  }
  answer(out);
}

/// Accepts a proposal even if this voter has not heard the question: it was not counted among the nodes that hold.
void delegate::receive(const propose& m, orders& out) {
  learn(m.last, out);
  if (refuses(m.by, m.last, out) || !votes())
    return;
  promise(m.by);
  accepted_ = {m.by, m.next};
  say(m.by.node, accepted{m.by, self_, life(), m.next.number()}, out);
}

void delegate::receive(const proceed& m, orders& out) { learn(m.last, out); }

/// True if the leader has a successor, or has missed a resolution. Tells it so.
bool delegate::refuses(const ballot& by, const resolution& last, orders& out) const {
  if (by >= promised_ && last.number() >= last_.number())
    return false;
  mail({by.node}, refused{by, promised_, last_}, out);
  return true;
}

void delegate::promise(const ballot& by) {
  if (by == promised_)
    return;
  promised_ = by;
  held_since_s_ = now_s_; // a new leader has its own time to conclude
  highest_term_ = std::max(highest_term_, by.term);
  if (by != mine_)
    give_up();
}

void delegate::answer(orders& out) {
  if (can_answer())
    say(promised_.node, standing_here(), out);
}

holding delegate::standing_here() const {
  holding m{promised_, self_, own_, last_.number(), accepted_, {}};
  for (const auto& [i, w] : workers_)
    m.workers.push_back(w);
  m.leaves = leaves_;
  return m;
}

// -- resolutions ------------------------------------------------------------------------------------------------------

/// Adopts a decided resolution, even under the question of a newer leader, which will find the same decision. The
/// leader that it names announces it, whichever node has found that it was decided: other nodes may have known it
/// earlier, and spoken in vain.
void delegate::learn(const resolution& r, orders& out) {
  if (r.number() <= last_.number())
    return;
  GOSSAMER_ASSERT(r.nodes.contains(r.leader), "a resolution knows the leader that has planned it");
  GOSSAMER_ASSERT(!r.voters.empty() && r.voters.size() <= most_voters, "somebody elects the next leader");
  for (auto& [i, w] : workers_)
    follow(w, r);
  if (as_wished_ && r == next_) {
    wished_ = save_wished_ = false;
    remember_who_declined(r);
  }
  stop_wished_ = stop_wished_ && !r.stopping;
  auto moved = seats_.adopt(r);
  auto before = std::exchange(last_, r);
  has_members_ = nodes_with_members(last_);
  accepted_ = {};
  held_ = stand_still_ = false;
  give_up();
  out.emplace_back(adopt{r, std::move(before), std::move(moved)});
  if (r.leader == self_ && r.knows(self_, life()))
    say_to_all(proceed{r}, out);
}

/// A member of a resolution has answered a question after the resolution before it, so none has been skipped.
void delegate::follow(standing& w, const resolution& next) const {
  const auto& view = next.what.view;
  const auto found = view.lives.find(w.who);
  if (found == view.lives.end() || !next.knows(self_, life()))
    return; // left out, or a former life of this node is meant: the model keeps its line
  const bool gets_state = view.donors.contains(w.who);
  if (found->second != w.incarnation && gets_state) {
    w = {.who = w.who, .incarnation = found->second};
    return;
  }
  w.ended = w.ended && found->second == w.incarnation;
  w.incarnation = found->second;
  const bool has_it_already =
      w.line == last_.number() && (view.number == last_.what.view.number || !rules_->synchronous);
  const bool keeps_model = !gets_state && w.line != 0; // or it has died since it answered
  if (keeps_model || has_it_already)
    w.line = next.number();
}

bool delegate::is_abreast(rank i) const {
  const auto own = workers_.find(i);
  const auto member = last_.what.view.lives.find(i);
  return own != workers_.end() && member != last_.what.view.lives.end() && last_.knows(self_, life())
         && own->second.incarnation == member->second && own->second.line == last_.number();
}

// -- this node's workers ----------------------------------------------------------------------------------------------

orders delegate::on(const workers_stand& w) {
  orders out;
  if (rules_->synchronous && !held_)
    return out; // the question has been settled meanwhile
  std::map<rank, standing> now;
  for (const auto& one : w.anew)
    now[one.who] = one.ended
                       ? standing{.who = one.who, .incarnation = one.incarnation, .line = last_.number(), .ended = true}
                       : standing{.who = one.who};
  for (const auto& one : w.where) {
    const auto known = workers_.find(one.who);
    const bool is_known = known != workers_.end() && known->second.incarnation == one.incarnation;
    now[one.who] = is_known ? one : standing{.who = one.who};
    if (is_known)
      now[one.who].line = known->second.line;
  }
  workers_ = std::move(now);
  if (rules_->synchronous) {
    stand_still_ = true;
    answer(out);
  }
  return out;
}

orders delegate::on(const state_taken& s) {
  GOSSAMER_ASSERT(!stand_still_ || !rules_->synchronous, "a worker that holds takes no state");
  const auto own = workers_.find(s.who);
  if (own == workers_.end() || own->second.incarnation != s.incarnation || !last_.knows(self_, life()))
    return {};
  own->second.line = last_.number();
  own->second.step = own->second.next_exchange = s.step;
  return {};
}

// -- mail -------------------------------------------------------------------------------------------------------------

void delegate::mail(std::vector<node_number> to, const message& m, orders& out) {
  if (to.empty())
    return;
  auto& letter = std::get<post>(out.emplace_back(std::in_place_type<post>));
  letter.to = std::move(to);
  letter.what = m;
}

void delegate::say(node_number to, const message& m, orders& out) {
  if (to == self_)
    std::visit([&](const auto& one) { receive(one, out); }, m);
  else
    mail({to}, m, out);
}

void delegate::say_to_all(const message& m, orders& out) const {
  std::vector<node_number> to;
  for (node_number n = 0; n < seats_.size(); ++n)
    if (n != self_ && !seats_.is_gone(n))
      to.push_back(n);
  mail(std::move(to), m, out);
}

} // namespace gossamer::actors::consensus
