#include "gossamer/actors/runtime/membership.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

membership::membership(const experiment& e)
    : run_(&e), views_(e), workers_(e.participants()), number_(e.everybody->number), population_(workers_.size()) {}

std::vector<rank> membership::living() const {
  std::vector<rank> result;
  for (rank i = 0; i < workers_.size(); ++i)
    if (alive(i))
      result.push_back(i);
  return result;
}

std::vector<bool> membership::who_is_ready() const {
  std::vector<bool> result;
  for (const auto& w : workers_)
    result.push_back(w.alive && w.ready);
  return result;
}

bool membership::anybody_ready() const {
  return std::any_of(workers_.begin(), workers_.begin() + static_cast<std::ptrdiff_t>(run_->settings.workers),
                     [](const entry& w) { return w.alive && w.ready; });
}

bool membership::masters_live() const {
  return std::all_of(workers_.begin() + static_cast<std::ptrdiff_t>(run_->settings.workers), workers_.end(),
                     [](const entry& w) { return w.alive; });
}

void membership::lose(rank i) {
  population_ -= workers_[i].alive;
  workers_[i].alive = workers_[i].ready = false;
  asked_.erase(i);
  changed_ = true;
  if (!anybody_ready())
    for (auto& w : workers_)
      w.ready = w.ready || (w.alive && std::exchange(w.behind, false));
}

std::uint32_t membership::start(rank i) {
  population_ += !workers_[i].alive;
  workers_[i] = {.alive = true, .ready = is_master(i), .promised = false, .incarnation = workers_[i].incarnation + 1};
  changed_ = true;
  return workers_[i].incarnation;
}

void membership::joined(rank i, std::uint64_t step) {
  workers_[i].ready = true;
  workers_[i].behind = workers_[i].promised = false;
  workers_[i].step = step;
  workers_[i].next_exchange = std::max(step, first_step_); // it may have steps to do until its view begins
}

std::uint32_t membership::ask() {
  const auto all = living();
  asked_ = {all.begin(), all.end()};
  return ++round_;
}

bool membership::answer(rank i, std::uint32_t round, std::uint64_t step, std::uint64_t next_exchange) {
  if (round != round_ || asked_.erase(i) == 0)
    return false;
  workers_[i].step = step;
  workers_[i].next_exchange = std::max(step, next_exchange);
  return asked_.empty();
}

std::uint64_t membership::last_step() const { return last(&entry::step); }

std::uint64_t membership::last(std::uint64_t entry::*of) const {
  std::uint64_t result = 0;
  for (rank i = 0; i < workers_.size(); ++i)
    if (ready(i))
      result = std::max(result, workers_[i].*of);
  return result;
}

std::vector<rank> membership::stranded() const {
  std::vector<rank> result;
  if (run_->algorithm->traits.synchronous && run_->algorithm->traits.on_loss == interrupted_round::finish)
    for (rank i = 0; i < workers_.size(); ++i)
      if (alive(i) && workers_[i].promised)
        result.push_back(i);
  return result;
}

std::uint64_t membership::first_step_within(std::uint64_t limit) const {
  const auto& traits = run_->algorithm->traits;
  if (!traits.synchronous)
    return 0;
  const bool finish = traits.on_loss == interrupted_round::finish;
  return std::min(finish ? last_step() + 1 : last(&entry::next_exchange), limit);
}

view_change membership::next_view(std::uint64_t limit) {
  view_change v{.number = ++number_, .first_step = first_step_within(limit), .lives = {}, .donors = {}};
  first_step_ = v.first_step;
  for (const auto i : living())
    v.lives.emplace(i, incarnation(i));
  promise_states(v);
  changed_ = false;
  return v;
}

/// Who gets a state from whom: those who were started anew, and those who are a round behind what will be repeated. Who
/// is behind only by steps that exchange nothing catches up.
void membership::promise_states(view_change& v) {
  std::vector<rank> members;
  for (const auto& [i, life] : v.lives)
    if (!is_master(i))
      members.push_back(i);
  if (run_->algorithm->traits.on_loss == interrupted_round::repeat)
    for (const auto i : members)
      if (workers_[i].ready && workers_[i].next_exchange < v.first_step) {
        workers_[i].ready = false;
        workers_[i].behind = true;
      }
  for (const auto i : members)
    if (!ready(i)) {
      v.donors[i] = donor_for(i, views_.graph_of(v), members);
      workers_[i].promised = true;
    }
}

/// A neighbour, if one has the state; else the first that has.
rank membership::donor_for(rank i, const topology::graph& graph, const std::vector<rank>& members) const {
  const auto has_state = [this](rank j) { return ready(j); };
  for (const auto candidates : {graph.neighbours(i), std::span<const rank>{members}})
    if (const auto found = std::ranges::find_if(candidates, has_state); found != candidates.end())
      return *found;
  GOSSAMER_ASSERT(false, "a run without a worker that has the state is over");
  return i;
}

void membership::fields(archive& a) {
  auto population = static_cast<std::uint64_t>(population_);
  for (auto& w : workers_)
    a(w.alive)(w.ready)(w.behind)(w.promised)(w.incarnation)(w.step)(w.next_exchange);
  a(number_)(first_step_)(population)(changed_)(round_)(asked_);
  population_ = population;
}

} // namespace gossamer::actors
