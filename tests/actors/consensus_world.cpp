#include "consensus_world.hpp"

#include "gossamer/actors/agreement/inspecting_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gossamer::actors::consensus {

namespace {

template <class Struct>
std::uint64_t hash_of_fields(Struct what) {
  hashing_archive sum;
  inspecting_archive{sum}(what);
  return sum.sum();
}

std::uint64_t hash_of_message(const message& m) {
  return hash_of(m.index(), std::visit([](const auto& one) { return hash_of_fields(one); }, m));
}

} // namespace

std::uint64_t hash_of(const resolution& r) { return hash_of_fields(r); }

world::world(const setting& s) : setting_(&s), processes_(s.rules.nodes) {
  decided_.push_back(std::make_shared<const resolution>(s.first));
  for (node_number i = 0; i < processes_.size(); ++i) {
    auto& p = processes_[i];
    p.mind = std::make_shared<const delegate>(s.rules, i, s.first);
    if (has_worker(i)) {
      p.worker = {.has_model = true, .active = true, .limit = s.first.what.limit, .model = 1, .views = {{}}};
      begin(i);
    }
    settle(i);
  }
}

// -- identity ---------------------------------------------------------------------------------------------------------

/// Updates the hash of a process. Must be called when the process has changed.
void world::settle(node_number i) {
  auto& p = processes_[i];
  const auto& w = p.worker;
  hashing_archive sum{
      hash_of(p.life, w.has_model, w.active, w.frozen, w.incarnation, w.awaits, w.step, w.limit, w.model)};
  for (auto v : w.views) {
    sum(v.number)(v.first_step);
    for (const auto life : v.lives) {
      auto word = static_cast<std::uint64_t>(life);
      sum(word);
    }
  }
  if (p.mind) {
    auto copy = *p.mind;
    copy.fields(sum);
  }
  p.hash = sum.sum();
}

std::uint64_t world::hash() const {
  auto result = hash_of(leaders_, crashes_, restarts_, stops_);
  for (const auto& p : processes_)
    result = hash_of(result, p.hash);
  for (const auto& r : rounds_)
    result = hash_of(result, r.view, r.step, r.who, r.model);
  for (const auto& v : votes_)
    result = hash_of(result, v.by.term, v.by.node, v.by.life, v.number, v.what, v.voter);
  for (const auto& l : sent_)
    result += l->hash; // a sum, as the order of letters does not matter; `decided_` follows from the rest
  return result;
}

std::string world::describe(const action& a) const {
  static constexpr std::array what = {"hears",
                                      "stands for election",
                                      "stands, to stop the run",
                                      "leaves out the silent",
                                      "buries the silent",
                                      "ends its step",
                                      "takes a state",
                                      "dies",
                                      "comes back"};
  if (a.what != action::kind::deliver)
    return fmt::format("{} {}", a.who, what[static_cast<std::size_t>(a.what)]);
  const auto& l = *sent_[a.which];
  static constexpr std::array kinds = {"hold", "holding", "propose", "accepted", "proceed", "refused"};
  ballot by;
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.by; })
          by = m.by;
      },
      l.what);
  return fmt::format("{} hears {} of ballot {}.{}.{}, {:x}", a.who, kinds[l.what.index()], by.term, by.node, by.life,
                     l.hash >> 48);
}

// -- possible actions -------------------------------------------------------------------------------------------------

/// True if the delivery would change the state. Unchanged worlds need not be explored.
bool world::is_for(const letter& l, node_number i) const {
  const auto& d = *processes_[i].mind;
  if (const auto* m = std::get_if<proceed>(&l.what))
    return m->last.number() > d.last().number();
  if (const auto* m = std::get_if<hold>(&l.what))
    return m->by.node != i && !is_moot(*m, d) && !(d.holds() && m->by == d.promised());
  if (const auto* m = std::get_if<propose>(&l.what))
    return m->by.node != i && !is_moot(*m, d) && m->by != d.accepted_proposal().by;
  if (const auto* m = std::get_if<holding>(&l.what); m != nullptr && l.to == i && synchronous()) {
    const bool awaited = std::ranges::count(d.awaited(), m->node) != 0;
    return awaited || !d.asks() || !d.seats().is_well(m->node, m->self.life);
  }
  return l.to == i;
}

/// True if the question would be refused without anyone hearing the refusal.
template <class Question>
bool world::is_moot(const Question& m, const delegate& d) const {
  if (m.last.number() > d.last().number() || (m.by >= d.promised() && m.last.number() == d.last().number()))
    return false;
  const auto& leader = processes_[m.by.node].mind;
  return !leader || leader->own_ballot() != m.by || (!leader->asks() && !leader->proposes());
}

/// True if the letter is an answer that no node waits for any more.
bool world::is_dead_letter(const letter& l) const {
  if (!l.to)
    return false;
  const auto& mind = processes_[*l.to].mind;
  if (!mind)
    return true;
  const auto is_dead = [&](const auto& m, bool waits) { return m.by != mind->own_ballot() || !waits; };
  if (const auto* m = std::get_if<holding>(&l.what))
    return is_dead(*m, mind->asks());
  if (const auto* m = std::get_if<accepted>(&l.what))
    return is_dead(*m, mind->proposes());
  if (const auto* m = std::get_if<refused>(&l.what))
    return is_dead(*m, mind->asks() || mind->proposes());
  return false;
}

std::vector<action> world::possible() const {
  using kind = action::kind;
  std::vector<action> all;
  const auto& may = setting_->may;
  for (node_number i = 0; i < processes_.size(); ++i) {
    const auto& p = processes_[i];
    if (!p.mind) {
      if (restarts_ < may.restarts)
        all.push_back({kind::restart, i});
      continue;
    }
    for (std::size_t k = 0; k < sent_.size(); ++k)
      if (is_for(*sent_[k], i))
        all.push_back({kind::deliver, i, k});
    if (p.mind->asks() && !p.mind->awaited().empty()) {
      all.push_back({kind::leave_out, i});
      all.push_back({kind::leave_out_for_dead, i});
    }
    if (p.mind->votes() && leaders_ < may.leaders) {
      all.push_back({kind::stand, i});
      if (stops_ < may.stops)
        all.push_back({kind::stop, i});
    }
    if (may_complete(i) && p.worker.step < may.steps)
      all.push_back({kind::complete, i});
    if (may_take(i))
      all.push_back({kind::take, i});
    if (crashes_ < may.crashes)
      all.push_back({kind::crash, i});
  }
  return all;
}

void world::act(const action& a) {
  try {
    switch (a.what) {
    case action::kind::deliver:
      tell_message(a.who, message{sent_[a.which]->what});
      break;
    case action::kind::stop:
      ++stops_;
      tell(a.who, wish{true, run_end::interrupted});
      [[fallthrough]];
    case action::kind::stand: {
      ++leaders_;
      auto mind = std::make_shared<delegate>(*processes_[a.who].mind);
      obey(a.who, *mind, mind->stand());
      processes_[a.who].mind = std::move(mind);
      break;
    }
    case action::kind::leave_out:
      leave_out(a.who, health::state::suspected);
      break;
    case action::kind::leave_out_for_dead:
      leave_out(a.who, health::state::gone);
      break;
    case action::kind::complete:
      complete(a.who);
      break;
    case action::kind::take:
      take(a.who);
      break;
    case action::kind::crash:
      ++crashes_, crash(a.who);
      break;
    case action::kind::restart:
      ++restarts_, restart(a.who);
      break;
    }
  } catch (const error& e) {
    throw broken{e.what()};
  }
  settle(a.who);
  std::erase_if(sent_, [this](const auto& l) { return is_dead_letter(*l); });
}

bool world::survives(std::optional<node_number> without) const {
  const auto& last = *decided_.back();
  std::set<node_number> alive;
  for (node_number i = 0; i < processes_.size(); ++i)
    if (processes_[i].mind && i != without && last.votes(i, processes_[i].life))
      alive.insert(i);
  return last.elected_by(alive);
}

// -- the network and the processes ------------------------------------------------------------------------------------

void world::tell_message(node_number i, const message& m) {
  const auto before = processes_[i].mind;
  tell(i, m);
  if (const auto& p = processes_[i].mind->accepted_proposal(); p.what.number() != 0)
    vouch(i, p);
  if (leaves_out(rule::promise) && std::holds_alternative<hold>(m)
      && before->last().number() == processes_[i].mind->last().number())
    processes_[i].mind = before; // the node has answered, and forgets its promise
}

void world::obey(node_number i, delegate& d, const orders& all) {
  for (const auto& one : all) {
    if (const auto* p = std::get_if<post>(&one)) {
      carry(*p);
    } else if (std::holds_alternative<hold_workers>(one)) {
      if (!synchronous())
        throw broken{"an asynchronous worker is told to hold"};
      processes_[i].worker.frozen = !leaves_out(rule::freeze);
      obey(i, d, d.on(where(i)));
    } else if (const auto* a = std::get_if<adopt>(&one)) {
      follow(i, d, a->what);
    }
  }
}

workers_stand world::where(node_number i) const {
  const auto& w = processes_[i].worker;
  if (!w.has_model && w.awaits == 0)
    return {{}, {{.who = i}}};
  return {{{.who = i, .incarnation = w.incarnation, .line = 0, .step = w.step, .next_exchange = w.step}}, {}};
}

void world::carry(const post& p) {
  if (const auto* m = std::get_if<propose>(&p.what)) {
    vouch(m->by.node, {m->by, m->next});
    if (leaves_out(rule::accept))
      for (const auto v : m->last.voters)
        add(accepted{m->by, v, m->last.nodes.at(v).life, m->next.number()}, m->by.node);
  }
  if (auto m = p.what; auto* h = std::get_if<holding>(&m)) {
    if (leaves_out(rule::inherit))
      h->accepted = {};
    for (const auto to : p.to)
      add(m, to);
    return;
  }
  const bool for_all = !std::holds_alternative<accepted>(p.what) && !std::holds_alternative<refused>(p.what);
  if (for_all)
    return add(p.what, std::nullopt);
  for (const auto to : p.to)
    add(p.what, to);
}

void world::add(message m, std::optional<node_number> to) {
  const auto hash = hash_of(hash_of_message(m), to.value_or(99));
  if (std::ranges::none_of(sent_, [&](const auto& l) { return l->hash == hash; }))
    sent_.push_back(std::make_shared<const letter>(letter{std::move(m), to, hash}));
}

void world::vouch(node_number i, const proposal& p) {
  const vote v{p.by, p.what.number(), hash_of(p.what), i};
  const auto place = std::ranges::lower_bound(votes_, v);
  if (place == votes_.end() || *place != v)
    votes_.insert(place, v);
}

/// Makes the leader suspect every silent node, and then believe in them again as the world goes on.
void world::leave_out(node_number i, health::state because) {
  auto mind = std::make_shared<delegate>(*processes_[i].mind);
  const auto silent = mind->awaited();
  if (leaves_out(rule::fence))
    for (const auto v : silent)
      if (const auto known = mind->last().nodes.find(v); known != mind->last().nodes.end() && v != i)
        obey(i, *mind, mind->on(message{holding{mind->own_ballot(), v, known->second, mind->last().number(), {}, {}}}));
  std::vector<health> before;
  for (const auto n : silent) {
    before.push_back({n, mind->seats()[n].by.life, mind->seats()[n].is});
    auto now = before.back();
    now.is = because;
    obey(i, *mind, mind->on(now));
  }
  for (const auto& h : before)
    obey(i, *mind, mind->on(h));
  processes_[i].mind = std::move(mind);
}

void world::crash(node_number i) {
  auto& p = processes_[i];
  p = {.mind = nullptr, .life = p.life, .worker = {}, .hash = 0};
}

void world::restart(node_number i) {
  auto& p = processes_[i];
  p.life += !leaves_out(rule::lives);
  p.mind = std::make_shared<const delegate>(setting_->rules, i, process{p.life, {}, {}});
}

} // namespace gossamer::actors::consensus
