#include "gossamer/actors/simulated/detail/simulated_planes.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

void simulated_planes::meet(node_number by, whereabouts there) {
  std::erase_if(queues_, [&](const auto& one) {
    const auto to = there.find(one.first.second);
    return one.first.first == by && (to == there.end() || to->second.life != one.second.life);
  });
  known_[by] = std::move(there);
  release();
}

void simulated_planes::end(node_number who) {
  known_.erase(who);
  std::erase_if(queues_, [&](const auto& one) { return one.first.first == who; });
}

void simulated_planes::carry(node_number from, node_number to, std::function<void()> leave) {
  if (from == to || (has_met(from, to) && has_met(to, from) && !queues_.contains({from, to})))
    return leave();
  const auto known = known_.find(from);
  if (known == known_.end() || !known->second.contains(to))
    return;
  auto& waits = queues_[{from, to}];
  if (waits.waiting.empty()) {
    waits = {known->second.at(to).life, around_.now(), {}};
    complain_in_time({from, to}, waits.since);
  }
  waits.waiting.push_back(std::move(leave));
}

/// True if `by` has met the present life of `other`.
bool simulated_planes::has_met(node_number by, node_number other) const {
  const auto own = known_.find(by), its = known_.find(other);
  if (own == known_.end() || its == known_.end())
    return false;
  const auto met = own->second.find(other);
  return met != own->second.end() && met->second.life == its->second.at(other).life;
}

void simulated_planes::release() {
  for (auto next = queues_.begin(); next != queues_.end();) {
    const auto one = next++;
    if (!has_met(one->first.first, one->first.second) || !has_met(one->first.second, one->first.first))
      continue;
    const auto waited = std::move(one->second.waiting);
    queues_.erase(one);
    for (const auto& leave : waited)
      leave();
  }
}

void simulated_planes::complain_in_time(way which, virtual_time since) {
  around_.at(later(around_.now(), around_.patience), [this, which, since] {
    const auto found = queues_.find(which);
    if (found == queues_.end() || found->second.since != since)
      return;
    around_.complain(which.first, which.second,
                     fmt::format("node {} could not be reached for {:.3g} s: it does not know this node", which.second,
                                 to_seconds(around_.now() - since)));
    complain_in_time(which, since);
  });
}

} // namespace gossamer::actors::detail
