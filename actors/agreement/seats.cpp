#include "gossamer/actors/agreement/seats.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gossamer::actors::consensus {

bool seats::believe(const health& h) {
  GOSSAMER_ASSERT(h.node < size(), "a seat has the number of a node of the run");
  auto& s = all_[h.node];
  if (h.life < s.by.life)
    return false;
  if (h.life > s.by.life)
    take(h.node, {h.life, {}, {}});
  s.taken |= h.is == health::state::well;
  return std::exchange(s.is, h.is) != h.is;
}

void seats::meet(node_number n, const process& p) {
  if (p.life > all_[n].by.life || !all_[n].taken)
    take(n, p);
}

void seats::take(node_number n, const process& p) {
  const auto kept_for = all_[n].kept_for;
  all_[n] = {p, true, all_[n].agreed, health::state::well, kept_for > p.life ? kept_for : 0};
}

/// The leader of a newly learnt resolution lived when that was decided, so it counts as well. Otherwise a node that was
/// cut off would take the lead as soon as a third node tells it, and leave out every node that it has not heard again
/// yet.
std::vector<node_number> seats::adopt(const resolution& r) {
  std::vector<node_number> changed;
  for (node_number n = 0; n < size(); ++n) {
    auto& s = all_[n];
    const auto found = r.nodes.find(n);
    const auto before = std::exchange(s.agreed, std::nullopt);
    if (found == r.nodes.end())
      continue;
    const auto& p = found->second;
    s.agreed = p.life;
    const bool has_not_heard_of_the_later = p.life < s.by.life && before == s.agreed;
    if (has_not_heard_of_the_later || (s.taken && p == s.by))
      continue;
    if (!s.taken || p.life != s.by.life)
      take(n, p);
    s.by = p;
    changed.push_back(n);
  }
  auto& leaders = all_[r.leader];
  if (leaders.is == health::state::suspected && leaders.by.life == r.nodes.at(r.leader).life)
    leaders.is = health::state::well;
  return changed;
}

std::optional<candidacy> seats::keep(std::optional<node_number> wanted, std::uint32_t by) {
  if (std::exchange(by_, by) != by)
    kept_ = 0;
  const auto will_do = [this, wanted](const seat& s) { return is_free(s) && (!wanted || &s == all_.data() + *wanted); };
  const auto found = std::ranges::find_if(all_, will_do);
  if (found == all_.end() || kept_ == most_candidates)
    return std::nullopt;
  GOSSAMER_ASSERT(by <= std::numeric_limits<std::uint32_t>::max() / most_candidates, "lives never repeat");
  found->kept_for = by * most_candidates + kept_++;
  return candidacy{static_cast<node_number>(found - all_.begin()), found->kept_for};
}

void seats::release(const candidacy& c) {
  if (all_[c.node].kept_for == c.life)
    all_[c.node].kept_for = 0;
}

bool seats::admit(node_number n, const process& p) {
  GOSSAMER_ASSERT(n < size(), "a seat has the number of a node of the run");
  const auto& s = all_[n];
  const bool has_it = s.agreed == s.by.life && s.is != health::state::gone;
  if (has_it || p.life <= s.by.life || p.life < s.kept_for)
    return false;
  take(n, p);
  return true;
}

} // namespace gossamer::actors::consensus
