// What a node does that has the chair, or might take it.
#include "gossamer/actors/runtime/consensus/delegate.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors::consensus {

// -- taking the chair -------------------------------------------------------------------------------------------------

orders delegate::stand() {
  orders out;
  if (votes())
    ask(out);
  return out;
}

void delegate::ask(orders& out) {
  highest_term_ = std::max(highest_term_, promised_.term) + 1;
  mine_ = {highest_term_, self_, life_};
  give_up();
  phase_ = phase::asking;
  said_s_ = now_s_;
  const hold question{mine_, last_};
  say_to_all(question, out);
  receive(question, out);
}

/// Also when it was not in the chair: what it knew as a chair is worth nothing any more.
void delegate::give_up() {
  phase_ = phase::none;
  answers_.clear();
  agree_.clear();
  next_ = {};
  as_wished_ = false;
}

void delegate::receive(const refused& m, orders& out) {
  if (phase_ != phase::none && m.by == mine_) {
    give_up();
    not_before_s_ = now_s_ + rules_->repeat_s * turn(); // two that contradict each other must not do so for ever
  }
  highest_term_ = std::max(highest_term_, m.promised.term);
  learn(m.last, out);
}

/// It stays where it is while that is possible: a change costs what a chair alone knows.
std::optional<node_number> delegate::chair() const {
  const auto may_have_it = [this](node_number v) { return v == self_ ? votes() : is_well(v, last_.nodes.at(v)); };
  if (last_.voters.contains(last_.chair) && may_have_it(last_.chair))
    return last_.chair;
  const auto first = std::ranges::find_if(last_.voters, may_have_it);
  return first == last_.voters.end() ? std::nullopt : std::optional{*first};
}

bool delegate::is_well(node_number node, std::uint32_t life) const {
  return nodes_[node].is == health::state::well && nodes_[node].life == life;
}

// -- asking -----------------------------------------------------------------------------------------------------------

void delegate::receive(const holding& m, orders& out) {
  if (m.number < last_.number())
    return say(m.node, proceed{last_}, out);
  if (phase_ == phase::none && m.by.node == self_ && m.by.life == life_ && m.number == last_.number())
    wished_ = true; // it holds for a chair that has given up
  if (phase_ != phase::asking || m.by != mine_ || m.number != last_.number() || m.life < nodes_[m.node].life)
    return;
  if (m.life > nodes_[m.node].life)
    nodes_[m.node] = {m.node, m.life, health::state::well};
  answers_[m.node] = m; // one life of a node counts, the newest
  conclude(out);
}

std::vector<node_number> delegate::awaited() const {
  std::vector<node_number> result;
  for (const auto& n : nodes_)
    if (phase_ == phase::asking && n.is == health::state::well && !answers_.contains(n.node))
      result.push_back(n.node);
  return result;
}

/// A quorum, because it contains somebody who knows what another quorum may have accepted; everybody else, because who
/// has not answered is left out.
void delegate::conclude(orders& out) {
  if (phase_ != phase::asking || !awaited().empty())
    return;
  std::set<node_number> voters;
  for (const auto& [n, m] : answers_)
    if (last_.votes(n, m.life))
      voters.insert(n);
  if (!last_.elected_by(voters))
    return;
  if (const auto* found = inherited()) {
    next_ = *found;
    as_wished_ = false;
  } else if (auto planned = plan(out)) {
    next_ = std::move(*planned);
    as_wished_ = true;
  } else {
    return;
  }
  phase_ = phase::proposing;
  said_s_ = now_s_;
  const propose proposal{mine_, last_, next_};
  mail(voters_not_among({self_}), proposal, out);
  receive(proposal, out);
}

/// What may have been decided already must not be forgotten. If it was, then it is the newest that anybody accepted.
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
    if (is_well(n, m.life))
      workers.insert(workers.end(), m.workers.begin(), m.workers.end());
  std::ranges::sort(workers, {}, &standing::who);
  const auto decided = rules_->plan({last_, workers, stop_wished_ && !last_.stopping, save_wished_});
  if (!decided) {
    out.emplace_back(models_are_lost{});
    return std::nullopt;
  }
  auto next = last_;
  next.what = *decided;
  if (stop_wished_ && next.why == run_end::planned)
    next.why = why_;
  next.stopping |= stop_wished_;
  next.chair = self_;
  choose_voters(next);
  return next;
}

/// A voter that is only silent may come back; had it lost its vote, those that are left could be too few to outvote it
/// when it is gone, or to go on if it is not.
void delegate::choose_voters(resolution& next) const {
  std::erase_if(next.voters, [&](node_number v) {
    return nodes_[v].is == health::state::gone || nodes_[v].life != last_.nodes.at(v);
  });
  std::erase_if(next.nodes, [&](const auto& n) { return !next.voters.contains(n.first); });
  for (const auto& [n, m] : answers_)
    if (is_well(n, m.life)) {
      next.nodes[n] = m.life;
      if (next.voters.size() < most_voters && may_vote(m))
        next.voters.insert(n);
    }
  auto stay = next.voters;
  std::erase_if(stay, [this](node_number v) { return answers_.contains(v) && answers_.at(v).leaves; });
  if (!stay.empty())
    next.voters = std::move(stay);
}

/// Who has no workers witnesses. Who has workers but no model could outvote the last one that has it.
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
  if (!last_.elected_by(agree_))
    return;
  const auto decided = next_;
  learn(decided, out);
  if (decided.chair != self_)
    say_to_all(proceed{decided}, out);
}

// -- what makes it ask, and ask again ---------------------------------------------------------------------------------

orders delegate::on(const health& h) {
  orders out;
  if (h.node >= nodes_.size() || h.node == self_ || h.life < nodes_[h.node].life)
    return out;
  if (std::exchange(nodes_[h.node], h) != h)
    declined_.erase(h.node);
  if (const auto found = answers_.find(h.node); found != answers_.end() && found->second.life < h.life)
    answers_.erase(found);
  conclude(out);
  return out;
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
  const bool is_first = chair() == self_;
  const bool chair_is_lost = held_ && !is_well(promised_.node, promised_.life);
  return is_first && (held_ ? chair_is_lost || promised_ == mine_ : is_wanted());
}

/// Somebody is to be lost, or may come; or as the shell wishes.
bool delegate::is_wanted() const {
  if (wished_ || stop_wished_ || save_wished_)
    return true;
  const auto present = nodes_with_members(last_);
  const bool somebody_is_lost = std::ranges::any_of(last_.nodes, [&](const auto& n) {
    const bool is_gone = nodes_[n.first].is == health::state::gone || nodes_[n.first].life != n.second;
    const bool is_needed = present.contains(n.first) || n.first == last_.chair;
    return n.first != self_ && (is_gone || (!is_well(n.first, n.second) && is_needed));
  });
  return somebody_is_lost || std::ranges::any_of(nodes_, [&](const health& n) {
           const bool comes = hosts_workers(n.node) ? !present.contains(n.node) : may_witness(n);
           return n.is == health::state::well && comes && !declined_.contains(n.node);
         });
}

/// A process without workers has nothing to do but vote.
bool delegate::may_witness(const health& n) const {
  return !last_.votes(n.node, n.life) && last_.voters.size() < most_voters;
}

std::set<node_number> delegate::nodes_with_members(const resolution& r) const {
  std::set<node_number> result;
  for (const auto& [i, life] : r.what.view.lives)
    result.insert(rules_->homes[i]);
  return result;
}

/// Who has answered, and is left out nevertheless, is not to be asked again and again: it offers no workers.
void delegate::remember_who_declined(const resolution& r) {
  const auto present = nodes_with_members(r);
  for (const auto& [n, m] : answers_)
    if (is_well(n, m.life) && !present.contains(n))
      declined_.insert(n);
}

/// Voters take turns, so that they do not stand for the chair at the same moment.
double delegate::turn() const {
  return 1 + static_cast<double>(std::distance(last_.voters.begin(), last_.voters.find(self_)));
}

/// Mail may be lost when connections break, and chairs die. Who holds tells all voters; one of them knows more, or
/// asks.
void delegate::repeat(orders& out) {
  said_s_ = now_s_;
  if (phase_ == phase::none && held_ && can_answer()) {
    mail(voters_not_among({self_}), standing_here(), out);
  } else if (phase_ == phase::asking) {
    std::vector<node_number> to;
    for (const auto& n : nodes_)
      if (n.node != self_ && n.is != health::state::gone && !answers_.contains(n.node))
        to.push_back(n.node);
    mail(std::move(to), hold{mine_, last_}, out);
  } else if (phase_ == phase::proposing) {
    mail(voters_not_among(agree_), propose{mine_, last_, next_}, out);
  }
}

/// @param some this node among them
std::vector<node_number> delegate::voters_not_among(const std::set<node_number>& some) const {
  std::vector<node_number> result;
  std::ranges::set_difference(last_.voters, some, std::back_inserter(result));
  return result;
}

} // namespace gossamer::actors::consensus
