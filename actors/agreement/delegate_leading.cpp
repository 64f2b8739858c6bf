// The part of a node that leads, or stands for election.
#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/marks.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors::consensus {

// -- taking the lead -------------------------------------------------------------------------------------------------

orders delegate::stand() {
  orders out;
  if (votes())
    ask(out);
  return out;
}

void delegate::ask(orders& out) {
  highest_term_ = std::max(highest_term_, promised_.term) + 1;
  mine_ = {highest_term_, self_, life()};
  give_up();
  phase_ = phase::asking;
  said_s_ = now_s_;
  const hold question{mine_, last_};
  say_to_all(question, out);
  receive(question, out);
}

/// Resets the leader's state. Safe to call on a node that was not the leader.
void delegate::give_up() {
  phase_ = phase::none;
  answers_.clear();
  agree_.clear();
  next_ = {};
  as_wished_ = false;
}

void delegate::receive(const refused& m, orders& out) {
  if (phase_ != phase::none && m.by == mine_) {
    pass(mark::second_candidate);
    give_up();
    not_before_s_ = now_s_ + rules_->repeat_s * turn(); // two leaders must not contradict each other for ever
  }
  highest_term_ = std::max(highest_term_, m.promised.term);
  learn(m.last, out);
}

/// The lead stays where it is while that is possible: a change loses what only the leader knows.
std::optional<node_number> delegate::leader() const {
  const auto may_have_it = [this](node_number v) {
    return v == self_ ? votes() : seats_.is_well(v, last_.nodes.at(v).life);
  };
  if (last_.voters.contains(last_.leader) && may_have_it(last_.leader))
    return last_.leader;
  const auto first = std::ranges::find_if(last_.voters, may_have_it);
  return first == last_.voters.end() ? std::nullopt : std::optional{*first};
}

// -- asking -----------------------------------------------------------------------------------------------------------

void delegate::receive(const holding& m, orders& out) {
  if (m.number < last_.number())
    return say(m.node, proceed{last_}, out);
  if (phase_ == phase::none && m.by.node == self_ && m.by.life == life() && m.number == last_.number())
    wished_ = true; // it holds for a leader that has given up
  if (phase_ != phase::asking || m.by != mine_ || m.number != last_.number() || m.self.life < seats_[m.node].by.life)
    return;
  seats_.meet(m.node, m.self);
  answers_[m.node] = m; // one life of a node counts, the newest
  conclude(out);
}

std::vector<node_number> delegate::awaited() const {
  std::vector<node_number> result;
  for (node_number n = 0; n < seats_.size(); ++n)
    if (phase_ == phase::asking && seats_[n].is == health::state::well && !answers_.contains(n))
      result.push_back(n);
  return result;
}

/// Waits for a quorum, because it contains a voter that knows what another quorum may have accepted; and for every
/// other node that is well, because a node that has not answered is left out.
void delegate::conclude(orders& out) {
  if (phase_ != phase::asking || !awaited().empty())
    return;
  std::set<node_number> voters;
  for (const auto& [n, m] : answers_)
    if (last_.votes(n, m.self.life))
      voters.insert(n);
  if (!last_.elected_by(voters))
    return;
  if (const auto* found = inherited()) {
    pass(mark::inherited_proposal);
    next_ = *found;
    as_wished_ = false;
  } else if (auto planned = plan(out)) {
    next_ = std::move(*planned);
    as_wished_ = true;
  } else {
    return;
  }
  GOSSAMER_ASSERT(next_.number() == last_.number() + 1, "a proposal succeeds what is resolved");
  GOSSAMER_ASSERT(next_.nodes.contains(next_.leader), "a proposal knows the leader that has planned it");
  phase_ = phase::proposing;
  said_s_ = now_s_;
  const propose proposal{mine_, last_, next_};
  mail(voters_not_among({self_}), proposal, out);
  receive(proposal, out);
}

/// Returns the newest accepted proposal, which may have been decided already: a decided one is the newest that any
/// voter accepted.
const resolution* delegate::inherited() const {
  const proposal* newest = nullptr;
  for (const auto& [n, m] : answers_)
    if (m.accepted.what.number() == last_.number() + 1 && (newest == nullptr || newest->by < m.accepted.by))
      newest = &m.accepted;
  return newest == nullptr ? nullptr : &newest->what;
}

std::optional<resolution> delegate::plan(orders& out) const {
  std::vector<standing> workers;
  for (const auto& [n, m] : answers_)
    if (seats_.is_well(n, m.self.life))
      workers.insert(workers.end(), m.workers.begin(), m.workers.end());
  std::ranges::sort(workers, {}, &standing::who);
  const auto decided = rules_->plan({last_, workers, stop_wished_ && !last_.stopping, save_wished_});
  if (!decided) {
    pass(mark::lost_models);
    out.emplace_back(models_are_lost{});
    return std::nullopt;
  }
  auto next = last_;
  next.what = *decided;
  if (stop_wished_ && next.why == run_end::planned)
    next.why = why_;
  next.stopping |= stop_wished_;
  next.leader = self_;
  choose_voters(next);
  return next;
}

/// Lets a merely silent voter keep its vote, since it may come back: without it, the voters left could be too few to
/// outvote it when it is gone, or to go on if it is not.
void delegate::choose_voters(resolution& next) const {
  std::erase_if(next.voters,
                [&](node_number v) { return seats_.is_gone(v) || seats_[v].by.life != last_.nodes.at(v).life; });
  std::erase_if(next.nodes, [&](const auto& n) { return !next.voters.contains(n.first); });
  for (const auto& [n, m] : answers_)
    if (seats_.is_well(n, m.self.life)) {
      next.nodes[n] = m.self;
      if (next.voters.size() < most_voters && may_vote(m))
        next.voters.insert(n);
    }
  auto stay = next.voters;
  std::erase_if(stay, [this](node_number v) { return answers_.contains(v) && answers_.at(v).leaves; });
  if (!stay.empty())
    next.voters = std::move(stay);
}

/// A node without workers votes as a witness. A node with workers but no model gets no vote: it could outvote the last
/// node that has the model.
bool delegate::may_vote(const holding& m) const {
  return !hosts_workers(m.node) || std::ranges::any_of(m.workers, [](const auto& w) { return w.line != 0; });
}

// -- proposing --------------------------------------------------------------------------------------------------------

void delegate::receive(const accepted& m, orders& out) {
  if (phase_ != phase::proposing || m.by != mine_ || m.number != next_.number() || !last_.votes(m.node, m.life))
    return;
  agree_.insert(m.node);
  count(out);
}

void delegate::count(orders& out) {
  GOSSAMER_ASSERT(phase_ == phase::proposing, "votes are counted for a proposal");
  if (!last_.elected_by(agree_))
    return;
  const auto decided = next_;
  learn(decided, out);
  if (decided.leader != self_)
    say_to_all(proceed{decided}, out);
}

// -- reasons to ask, and to ask again ---------------------------------------------------------------------------------

orders delegate::on(const health& h) {
  orders out;
  if (h.node >= seats_.size() || h.node == self_ || h.life < seats_[h.node].by.life)
    return out;
  if (seats_.believe(h))
    declined_.erase(h.node);
  forget_former_answer(h.node);
  conclude(out);
  return out;
}

bool delegate::admit(node_number node, const process& p) {
  if (node >= seats_.size() || node == self_ || !seats_.admit(node, p))
    return false;
  declined_.erase(node);
  forget_former_answer(node);
  return true;
}

void delegate::forget_former_answer(node_number node) {
  if (const auto found = answers_.find(node); found != answers_.end() && found->second.self.life < seats_[node].by.life)
    answers_.erase(found);
}

orders delegate::on(const wish& w) {
  wished_ |= !w.stop && !w.save;
  stop_wished_ |= w.stop;
  save_wished_ |= w.save;
  if (w.stop && (why_ == run_end::planned || !last_.stopping))
    why_ = w.why;
  as_wished_ = false;
  return {};
}

orders delegate::on(const clock_says& c) {
  orders out;
  now_s_ = c.now_s;
  if (should_stand())
    ask(out);
  else if (now_s_ - said_s_ >= rules_->repeat_s)
    repeat(out);
  return out;
}

bool delegate::should_stand() const {
  if (!votes() || phase_ != phase::none || now_s_ < not_before_s_)
    return false;
  if (held_ && now_s_ - held_since_s_ >= rules_->longest_hold_s * turn())
    return true;
  const bool is_first = leader() == self_;
  const bool leader_is_lost = held_ && !seats_.is_well(promised_.node, promised_.life);
  return is_first && (held_ ? leader_is_lost || promised_ == mine_ : is_wanted());
}

/// True if a node is lost or may come, or if the shell wishes for a resolution.
bool delegate::is_wanted() const {
  if (wished_ || stop_wished_ || save_wished_)
    return true;
  const bool somebody_is_lost = std::ranges::any_of(last_.nodes, [&](const auto& n) {
    const bool is_gone = seats_.is_gone(n.first) || seats_[n.first].by.life != n.second.life;
    const bool is_needed = has_members_[n.first] || n.first == last_.leader;
    return n.first != self_ && (is_gone || (!seats_.is_well(n.first, n.second.life) && is_needed));
  });
  bool somebody_comes = false;
  for (node_number n = 0; n < seats_.size(); ++n) {
    const bool is_missing = hosts_workers(n) ? !has_members_[n] : may_witness(n);
    somebody_comes |= seats_[n].is == health::state::well && is_missing && !declined_.contains(n);
  }
  return somebody_is_lost || somebody_comes;
}

/// True if a process without workers may become a voter: it can do nothing but vote.
bool delegate::may_witness(node_number n) const {
  return !last_.votes(n, seats_[n].by.life) && last_.voters.size() < most_voters;
}

std::vector<bool> delegate::nodes_with_members(const resolution& r) const {
  std::vector<bool> result(rules_->nodes);
  for (const auto& [i, life] : r.what.view.lives)
    result[rules_->homes[i]] = true;
  return result;
}

/// Notes the nodes that have answered and are left out nevertheless: they offer no workers, and are not asked again and
/// again.
void delegate::remember_who_declined(const resolution& r) {
  const auto present = nodes_with_members(r);
  for (const auto& [n, m] : answers_)
    if (seats_.is_well(n, m.self.life) && !present[n])
      declined_.insert(n);
}

/// Voters take turns, so that they do not stand for election at the same moment.
double delegate::turn() const {
  return 1 + static_cast<double>(std::distance(last_.voters.begin(), last_.voters.find(self_)));
}

/// Repeats messages: mail may be lost when connections break, and leaders die. A node that holds tells all voters; one
/// of them knows more, or asks.
void delegate::repeat(orders& out) {
  said_s_ = now_s_;
  if (phase_ == phase::none && held_ && can_answer()) {
    mail(voters_not_among({self_}), standing_here(), out);
  } else if (phase_ == phase::asking) {
    std::vector<node_number> to;
    for (node_number n = 0; n < seats_.size(); ++n)
      if (n != self_ && !seats_.is_gone(n) && !answers_.contains(n))
        to.push_back(n);
    mail(std::move(to), hold{mine_, last_}, out);
  } else if (phase_ == phase::proposing) {
    mail(voters_not_among(agree_), propose{mine_, last_, next_}, out);
  }
}

/// @param some includes this node
std::vector<node_number> delegate::voters_not_among(const std::set<node_number>& some) const {
  std::vector<node_number> result;
  std::ranges::set_difference(last_.voters, some, std::back_inserter(result));
  return result;
}

} // namespace gossamer::actors::consensus
