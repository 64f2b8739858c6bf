#include "gossamer/actors/agreement/membership.hpp"

#include <algorithm>

namespace gossamer::actors {

std::vector<rank> membership::living() const {
  std::vector<rank> result;
  for (rank i = 0; i < workers_.size(); ++i)
    if (alive(i))
      result.push_back(i);
  return result;
}

std::vector<bool> membership::who_is_ready() const {
  std::vector<bool> result;
  for (rank i = 0; i < workers_.size(); ++i)
    result.push_back(ready(i));
  return result;
}

bool membership::masters_are_ready() const {
  return std::all_of(workers_.begin() + static_cast<std::ptrdiff_t>(run_->settings.worker_ranks()), workers_.end(),
                     [](const entry& w) { return w.member && !w.over && w.ready; });
}

bool membership::names_the_dead() const {
  return std::ranges::any_of(workers_, [](const entry& w) { return w.member && w.over; });
}

/// An asynchronous worker that is to get a state may have got it while that was being agreed on, and keeps it.
void membership::adopt(const view_change& next) {
  if (std::exchange(view_, next.number) == next.number)
    return;
  for (rank i = 0; i < workers_.size(); ++i) {
    const auto member = next.lives.find(i);
    if (member == next.lives.end()) {
      leave_out(i);
      continue;
    }
    const bool is_same = incarnation(i) == member->second;
    const bool has_it = !run_->algorithm->traits.synchronous && ready(i) && is_same;
    const bool is_ready = has_it || !next.donors.contains(i);
    change(i, [&](entry& w) {
      w = {.member = true, .over = is_same && w.over, .ready = is_ready, .incarnation = member->second};
    });
  }
}

void membership::fields(archive& a) {
  for (auto& w : workers_)
    a(w.member)(w.over)(w.ready)(w.incarnation);
  a(view_);
  population_ = living().size();
}

} // namespace gossamer::actors
