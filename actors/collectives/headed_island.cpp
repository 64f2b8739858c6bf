#include "gossamer/actors/collectives/headed_island.hpp"

#include "gossamer/actors/collectives/island_mean.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

void headed_island::begin(worker& w) {
  handed_in_.clear();
  taken_.clear();
  last_.reset();
  if (!w.islands().are_shared())
    return;
  w.serve(hear(w));
  w.serve(watch(w));
}

bool headed_island::is_headed_by(const worker& w) {
  return !w.islands().are_shared() || island_of(w).members.front() == w.id();
}

task<vec> headed_island::mean_gradient(worker& w, vec own) {
  if (!w.islands().are_shared())
    co_return own;
  while (!w.over() && is_headed_by(w) && !all_have_come(w))
    co_await changed_.wait();
  for (const auto i : island_of(w).members)
    if (const auto* const theirs = from(w, i)) {
      own += w.decode(theirs->body, own.size());
      taken_.push_back(*theirs);
    }
  std::erase_if(handed_in_, [&](const auto& one) { return one.second.label.view <= w.present().number; });
  own *= 1 / static_cast<float>(1 + taken_.size());
  co_return own;
}

void headed_island::answer(worker& w, const vec& x) {
  for (const auto& one : std::exchange(taken_, {}))
    reply(w, one, x);
}

void headed_island::end(worker& w, const vec& x) {
  answer(w, x);
  for (const auto& [_, one] : std::exchange(handed_in_, {}))
    reply(w, one, x);
  last_ = x;
}

task<std::optional<vec>> headed_island::model_after(worker& w, const vec& gradient, std::uint64_t t) {
  const auto island = island_of(w);
  const auto head = island.members.front();
  w.send(head, {frame_kind::request, t, 0, island.view}, w.encode_exactly(gradient));
  const tag wanted{frame_kind::reply, t, 0, island.view};
  const auto answered = co_await w.receive(head, wanted);
  if (!answered)
    co_return std::nullopt;
  co_return w.decode(answered->body);
}

task<> headed_island::hear(worker& w) {
  for (;;) {
    auto asked = co_await w.receive_any(frame_kind::request);
    if (last_)
      reply(w, asked, *last_);
    else
      handed_in_[asked.source] = std::move(asked);
    changed_.notify();
  }
}

task<> headed_island::watch(worker& w) {
  for (;;) {
    co_await w.change();
    changed_.notify();
  }
}

/// The gradient that a worker has handed in, in the present view.
const frame* headed_island::from(const worker& w, rank i) const {
  const auto found = handed_in_.find(i);
  return found != handed_in_.end() && found->second.label.view == w.present().number ? &found->second : nullptr;
}

bool headed_island::all_have_come(const worker& w) const {
  const auto members = island_of(w).members;
  return std::ranges::all_of(members, [&](rank i) { return i == w.id() || !w.is_present(i) || from(w, i); });
}

void headed_island::reply(worker& w, const frame& to, const vec& x) {
  w.send(to.source, {frame_kind::reply, to.label.step, 0, to.label.view}, w.encode_exactly(x));
}

} // namespace gossamer::actors
