#include "gossamer/actors/collectives/averaging_queue.hpp"

#include "gossamer/actors/collectives/pairwise_average.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

namespace {
constexpr std::size_t most_due = 1024; // after a longer pause the rest is dropped
} // namespace

void averaging_queue::begin() {
  under_way_ = own_under_way_ = 0;
  invitations_.clear();
}

void averaging_queue::add(worker& w, due_averaging due) {
  if (most_owed_ > 0 || due_.size() < most_due)
    due_.push_back(due);
  else
    ++w.averaged().dropped;
}

std::optional<due_averaging> averaging_queue::take(worker& w) {
  const auto is_early = [&](const due_averaging& one) { return one.view > w.present().number; };
  for (;;) {
    const auto at = std::ranges::find_if_not(due_, is_early);
    if (at == due_.end())
      return std::nullopt;
    const auto next = *at;
    due_.erase(at);
    if (w.active() && std::ranges::binary_search(w.neighbours(), next.with))
      return next;
    ++w.averaged().dropped;
    less_is_owed();
  }
}

void averaging_queue::begins(const due_averaging& one) {
  ++under_way_;
  own_under_way_ += !one.invited;
}

void averaging_queue::ends(const due_averaging& one) {
  --under_way_;
  own_under_way_ -= !one.invited;
  less_is_owed();
}

void averaging_queue::drop(worker& w) { w.averaged().dropped += std::exchange(due_, {}).size(); }

void averaging_queue::has_answered(const frame& request) {
  if (auto& unanswered = invitations_[request.source]; was_invited(request) && unanswered > 0) {
    --unanswered;
    less_is_owed();
  }
}

void averaging_queue::forget_invitations() {
  invitations_.clear();
  less_is_owed();
}

bool averaging_queue::owes_too_much() const {
  if (most_owed_ == 0)
    return false;
  auto owed = own_under_way_ + static_cast<std::size_t>(std::ranges::count(due_, false, &due_averaging::invited));
  for (const auto& [whom, unanswered] : invitations_)
    owed += unanswered;
  return owed > most_owed_;
}

void averaging_queue::less_is_owed() {
  if (most_owed_ > 0)
    changed_.notify();
}

} // namespace gossamer::actors
