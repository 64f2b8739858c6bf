// The workers of the world, and the promises that must hold among them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "consensus_world.hpp"

namespace gossamer::actors::consensus {

// -- resolutions ------------------------------------------------------------------------------------------------------

void world::follow(node_number i, const delegate& d, const resolution& r) {
  record(i, d, r);
  if (has_worker(i))
    enter(i, r);
}

void world::record(node_number i, const delegate& d, const resolution& r) {
  const auto n = r.number();
  if (n > decided_.size() + 1)
    throw broken{"a resolution has no predecessor"};
  if (n <= decided_.size()) {
    if (*decided_[n - 1] != r)
      throw broken{"two resolutions have the number " + std::to_string(n)};
    return;
  }
  const auto& before = *decided_.back();
  // A leader that needs no vote but its own posts none.
  std::map<ballot, std::set<node_number>> by;
  if (before.votes(i, d.life()))
    by[d.own_ballot()].insert(i);
  for (const auto& v : votes_)
    if (v.number == n && v.what == hash_of(r))
      by[v.by].insert(v.voter);
  if (std::ranges::none_of(by, [&](const auto& b) { return before.elected_by(b.second); }))
    throw broken{"a minority has decided on resolution " + std::to_string(n)};
  decided_.push_back(std::make_shared<const resolution>(r));
}

/// Adopts a resolution in the way that the doc of `adopt` prescribes to every host of workers.
void world::enter(node_number i, const resolution& r) {
  auto& p = processes_[i];
  auto& w = p.worker;
  const auto& v = r.what.view;
  w.frozen = false;
  const auto limit = std::exchange(w.limit, r.what.limit);
  const auto member = v.lives.find(i);
  if (member == v.lives.end() || !r.knows(i, p.life)) {
    w.active = false; // the worker keeps its model
    w.awaits = 0;
    return;
  }
  const bool anew = std::exchange(w.incarnation, member->second) != member->second;
  if (!anew && w.active && synchronous() && w.step >= w.limit && w.step < limit)
    throw broken{"a step has begun that is not to be"};
  if (!anew && w.active && synchronous() && w.step >= limit && w.step < w.limit)
    throw broken{"a worker has come to the end, and is to go on"};
  if (!anew && !w.views.empty() && w.views.back().number == v.number)
    return; // the view is unchanged
  if (!v.donors.contains(i) || (!synchronous() && !anew && w.active))
    return go_on(i, v);
  w.has_model = w.has_model && !anew;
  w.active = false;
  w.awaits = v.number;
  w.views = {known(v)};
  if (anew)
    w.step = w.model = 0;
}

void world::go_on(node_number i, const view_change& v) {
  auto& w = processes_[i].worker;
  if (!w.has_model)
    throw broken{"a worker is to go on without a model"};
  const bool finishes = setting_->kind == rounds::finish && std::exchange(w.active, true);
  w.active = true;
  w.awaits = 0;
  if (!synchronous()) {
    w.views = {known(v)};
  } else if (finishes) {
    if (w.step >= v.first_step && w.step < w.limit)
      throw broken{"a worker is in a step already that the next view begins with"};
    std::erase_if(w.views,
                  [&](const auto& k) { return k.number != w.views.front().number && k.first_step >= v.first_step; });
    w.views.push_back(known(v));
    if (v.first_step <= w.step)
      w.views = {w.views.back()};
    begin(i);
  } else {
    if (w.step != v.first_step)
      throw broken{"a worker has moved since it was asked to hold"};
    w.views = {known(v)};
    begin(i);
  }
}

world::known_view world::known(const view_change& v) {
  known_view result{v.number, v.first_step, {}};
  result.lives.fill(-1);
  for (const auto& [i, life] : v.lives)
    result.lives.at(i) = life;
  return result;
}

// -- rounds -----------------------------------------------------------------------------------------------------------

const world::round* world::find_round(std::uint32_t view, std::uint64_t step) const {
  const auto found = std::ranges::find_if(rounds_, [&](const auto& r) { return r.view == view && r.step == step; });
  return found == rounds_.end() ? nullptr : &*found;
}

void world::begin(node_number i) {
  const auto& w = processes_[i].worker;
  if (!synchronous())
    return;
  const round mine{w.views.front().number, w.step, 1u << i, w.model};
  if (auto* same = const_cast<round*>(find_round(mine.view, mine.step))) {
    if (same->model != mine.model && setting_->kind == rounds::repeat)
      throw broken{"replicas begin a round with different models"};
    same->who |= mine.who;
    return;
  }
  const auto before = [](const round& r) { return std::pair(r.view, r.step); };
  rounds_.insert(std::ranges::upper_bound(rounds_, before(mine), {}, before), mine);
}

/// True if the frames of all members have come, except of those that the worker knows to be lost.
bool world::may_complete(node_number i) const {
  const auto& w = processes_[i].worker;
  if (!processes_[i].mind || !w.active || w.frozen || w.step >= w.limit)
    return false;
  if (!synchronous())
    return true;
  const auto& present = w.views.front();
  const auto* r = find_round(present.number, w.step);
  for (node_number j = 0; j < setting_->may.processes; ++j)
    if (present.lives[j] >= 0 && w.views.back().lives[j] == present.lives[j] && (r->who >> j & 1u) == 0)
      return false;
  return true;
}

void world::complete(node_number i) {
  auto& w = processes_[i].worker;
  const auto& mind = *processes_[i].mind;
  if (!mind.is_abreast(i))
    throw broken{"a worker makes a step that its delegate takes for one without the model"};
  for (auto n = mind.last().number(); synchronous() && n < decided_.size(); ++n) {
    const auto& later = decided_[n]->what;
    const bool other_view = later.view.number != w.views.back().number;
    const auto last = later.view.first_step - (setting_->kind == rounds::finish);
    if ((other_view && w.step > last) || w.step >= later.limit)
      throw broken{"a worker goes on, although others have decided without it"};
  }
  if (setting_->kind == rounds::repeat) // the new model depends on those of all members
    w.model = hash_of(w.model, w.views.front().number, w.step);
  ++w.step;
  while (w.views.size() > 1 && w.views[1].first_step <= w.step)
    w.views.erase(w.views.begin());
  begin(i);
}

bool world::may_take(node_number i) const {
  const auto& p = processes_[i];
  if (!p.mind || p.worker.awaits == 0 || p.worker.frozen)
    return false;
  const auto donor = p.mind->last().what.view.donors.at(i);
  if (!synchronous())
    return processes_[donor].mind && processes_[donor].worker.active;
  const auto* r = find_round(p.worker.awaits, p.worker.views.back().first_step);
  return r != nullptr && (r->who >> donor & 1u) != 0;
}

void world::take(node_number i) {
  auto& w = processes_[i].worker;
  const auto& view = w.views.back();
  const auto& donor = processes_[processes_[i].mind->last().what.view.donors.at(i)].worker;
  w.step = synchronous() ? view.first_step : donor.step;
  w.model = synchronous() ? find_round(view.number, view.first_step)->model : donor.model;
  w.has_model = w.active = true;
  w.awaits = 0;
  begin(i);
  tell(i, state_taken{i, w.incarnation, w.step});
}

// -- calm weather -----------------------------------------------------------------------------------------------------

std::string world::calm(bool come_back) {
  std::uint64_t goal = 2;
  for (const auto& p : processes_)
    goal = std::max(goal, p.worker.step + 2);
  for (int tick = 1; tick <= 1000; ++tick) {
    for (node_number i = 0; i < processes_.size(); ++i)
      if (!processes_[i].mind && come_back)
        restart(i);
    for (node_number i = 0; i < processes_.size(); ++i)
      if (processes_[i].mind) {
        believe_the_truth(i);
        tell(i, clock_says{0.05 * tick});
      }
    deliver_everything();
    for (node_number i = 0; i < processes_.size(); ++i) {
      if (may_take(i))
        take(i);
      if (may_complete(i))
        complete(i);
    }
    if (goes_on(goal))
      return "the run goes on";
  }
  if (!survives(std::nullopt))
    return "too many voters have died: nobody goes on";
  if (std::ranges::none_of(processes_, [](const auto& p) { return p.mind && p.worker.has_model; }))
    return "nobody has a model any more";
  std::string how = "the run is stuck";
  for (node_number i = 0; i < processes_.size(); ++i)
    how += "\n  " + state_of(i);
  throw broken{how};
}

std::string world::state_of(node_number i) const {
  const auto& [mind, life, w, hash] = processes_[i];
  if (!mind)
    return fmt::format("{} is down", i);
  return fmt::format("{}, life {}: knows resolution {} of {}, {}{}{}{}; model {}, active {}, frozen {}, step {} of {}",
                     i, life, mind->last().number(), decided_.size(), mind->votes() ? "votes" : "does not vote",
                     mind->holds() ? ", holds" : "", mind->asks() ? ", asks" : "", mind->proposes() ? ", proposes" : "",
                     w.has_model, w.active, w.frozen, w.step, w.limit);
}

void world::believe_the_truth(node_number i) {
  for (node_number j = 0; j < processes_.size(); ++j) {
    const health now{j, processes_[j].life, processes_[j].mind ? health::state::well : health::state::gone};
    const auto& seat = processes_[i].mind->seats()[j];
    if (j != i && health{j, seat.by.life, seat.is} != now)
      tell(i, now);
  }
}

void world::deliver_everything() {
  for (int turn = 0; turn < 100 && !sent_.empty(); ++turn)
    for (const auto& l : std::exchange(sent_, {}))
      for (node_number i = 0; i < processes_.size(); ++i)
        if (processes_[i].mind && is_for(*l, i))
          tell_message(i, l->what);
}

bool world::goes_on(std::uint64_t goal) const {
  const auto& last = *decided_.back();
  for (node_number i = 0; i < processes_.size(); ++i) {
    const auto& p = processes_[i];
    if (!p.mind && last.knows(i, p.life))
      return false; // no node has noticed the death
    if (!p.mind)
      continue;
    if (p.mind->holds() || p.mind->last().number() != last.number())
      return false;
    if (has_worker(i) && (!p.worker.active || p.worker.step < std::min(goal, p.worker.limit)))
      return false;
  }
  return true;
}

} // namespace gossamer::actors::consensus
