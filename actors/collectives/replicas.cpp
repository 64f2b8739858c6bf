#include "gossamer/actors/collectives/replicas.hpp"

namespace gossamer::actors {

namespace {
/// The number of a message, as the part of a label.
std::uint32_t numbered(std::uint64_t n) { return static_cast<std::uint32_t>(n); }
} // namespace

task<> replicas::catch_up(worker& w, const vec& x, std::uint64_t t) {
  if (exchange_due(w, t)) {
    exact_since_ = t;
    own_ = x;
    co_await exchange(w, t);
  } else if (t == 0) // all workers start from the same point
    for (const auto j : w.neighbours())
      others_[j] = own_;
  else if (!published_) // the run goes on from a checkpoint: the messages under way then are lost
    co_await exchange(w, t);
  else
    co_await follow_all(w, t);
  claim(w, t);
}

bool replicas::exchange_due(const worker& w, std::uint64_t t) const {
  return view_ != w.present().number || (refresh_ != 0 && age(t) == refresh_);
}

task<> replicas::exchange(worker& w, std::uint64_t t) {
  view_ = w.present().number;
  others_.clear();
  const tag label{frame_kind::model, t, 0, view_};
  w.send_to_neighbours(label, w.encode_exactly(own_));
  for (const auto j : w.neighbours()) {
    const auto received = co_await w.receive(j, label);
    if (received)
      others_[j] = w.decode(received->body);
  }
}

task<> replicas::follow_all(worker& w, std::uint64_t t) {
  const tag label{frame_kind::difference, t - 1, numbered(age(t)), view_};
  for (const auto j : w.neighbours()) {
    const auto received = co_await w.receive(j, label);
    const auto known = others_.find(j);
    if (received && known != others_.end())
      follow_(known->second, w.decode(received->body), age(t));
    else
      others_.erase(j);
  }
}

vec replicas::mix(const worker& w, const vec& x) const {
  vec mixed = w.mixing(w.id()) * x;
  for (const auto j : w.neighbours()) {
    const auto known = others_.find(j);
    mixed += w.mixing(j) * (known != others_.end() ? known->second : x);
  }
  return mixed;
}

void replicas::publish(worker& w, const vec& z, std::uint64_t t) {
  published_ = true;
  const auto message = w.encode(z);
  follow_(own_, w.decode(message), age(t + 1));
  if (!exchange_due(w, t + 1)) // otherwise no neighbour will ask for it
    w.send_to_neighbours({frame_kind::difference, t, numbered(age(t + 1)), view_}, message);
}

void replicas::claim(const worker& w, std::uint64_t t) const {
  const auto name = [](rank j) { return "the replica of worker " + std::to_string(j); };
  w.claim_equal(name(w.id()), t, own_);
  for (const auto& [j, replica] : others_)
    w.claim_equal(name(j), t, replica);
}

} // namespace gossamer::actors
