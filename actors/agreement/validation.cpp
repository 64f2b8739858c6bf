#include "gossamer/actors/agreement/validation.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace gossamer::actors::consensus {

namespace {

// No count of a run gets so far. Sums of two of them do not overflow.
constexpr std::uint64_t most_terms = std::uint64_t{1} << 62, most_steps = std::uint64_t{1} << 62;

// Resolutions are seconds apart. Each number has its lives, and a number after it.
constexpr std::uint32_t most_resolutions = std::uint32_t{1} << 20;
static_assert(most_resolutions < std::numeric_limits<std::uint32_t>::max() / seats::most_candidates / 2);

void check(bool sensible, std::string_view what) {
  if (!sensible)
    throw error(errc::bad_packet, fmt::format("a message about who takes part {}", what),
                "all nodes of a run must be of the same version");
}

void check(const ballot& b, const charter& rules) {
  check(b.node < rules.nodes, "comes from a leader that is no node of this run");
  check(b.term > 0 && b.term < most_terms, "names an attempt that nobody makes");
}

void check(const view_change& v, std::uint32_t number, const charter& rules) {
  check(v.number >= 1 && v.number <= number, "names a view that cannot be");
  check(v.first_step < most_steps, "names a step that nobody reaches");
  check(v.updates_ahead >= -view_change::most_updates_ahead && v.updates_ahead <= view_change::most_updates_ahead,
        "counts what nobody has computed");
  check(!v.lives.empty(), "leaves everybody out");
  for (const auto& [i, life] : v.lives)
    check(i < rules.homes.size() && life <= number, "names a worker that cannot be");
  for (const auto& [joiner, donor] : v.donors)
    check(v.lives.contains(joiner) && v.lives.contains(donor) && !v.donors.contains(donor),
          "names a donor that has nothing to give, or gives it to nobody");
}

void check(const process& p, std::uint32_t number) {
  check(seats::may_exist(p.life, number), "names a process that nobody can have let in");
  check(is_host(p.data.host) && is_host(p.control.host), "names a host that cannot be");
}

void check(const resolution& r, const charter& rules) {
  check(r.number() > 0, "resolves nothing");
  check(r.number() < most_resolutions, "counts more resolutions than any run has");
  check(r.what.view, r.number(), rules);
  check(r.why == run_end::planned || r.why == run_end::seconds || r.why == run_end::interrupted,
        "ends the run for no reason");
  check(r.what.save_at < most_steps, "saves what nobody reaches");
  check(r.what.parting.at < most_steps, "pauses where nobody gets");
  for (const auto& [who, heir] : r.what.parting.heirs)
    check(r.what.view.lives.contains(who) && r.what.view.lives.contains(heir) && !r.what.parting.heirs.contains(heir),
          "names an heir that is not there, or leaves itself");
  check(!r.voters.empty() && r.voters.size() <= most_voters, "leaves the next resolution to nobody, or to too many");
  for (const auto& [n, p] : r.nodes) {
    check(n < rules.nodes, "names a node that there is not");
    check(p, r.number());
  }
  check(std::ranges::includes(r.nodes, r.voters, {}, &std::pair<const node_number, process>::first),
        "names a voter without its life");
  check(r.nodes.contains(r.leader), "gives the lead to a node that takes no part");
  for (const auto& [i, life] : r.what.view.lives)
    check(r.nodes.contains(rules.homes[i]), "names a worker whose node takes no part");
}

/// Checks that two decided resolutions of one number are the same.
void check_unbroken(const resolution& theirs, const resolution& own) {
  if (theirs.number() == own.number() && theirs != own)
    throw error(errc::failed,
                fmt::format("nodes have decided differently who takes part, in resolution {}", own.number()),
                "this must not happen; the run cannot go on");
}

void check_known(const resolution& last, const charter& rules, const resolution& own) {
  check(last, rules);
  check_unbroken(last, own);
}

void check(const std::vector<standing>& workers, const holding& m, const charter& rules) {
  for (const auto& w : workers) {
    check(w.who < rules.homes.size() && rules.homes[w.who] == m.node, "speaks for a worker of another node");
    check(w.line <= m.number && w.incarnation <= m.number, "names a resolution that is still to come");
    check(w.step < most_steps && w.next_exchange < most_steps, "names a step that nobody reaches");
  }
  const auto unordered = std::ranges::adjacent_find(workers, std::ranges::greater_equal{}, &standing::who);
  check(unordered == workers.end(), "speaks twice for a worker");
}

} // namespace

void validate(const hold& m, const charter& rules, const resolution& own) {
  check(m.by, rules);
  check_known(m.last, rules, own);
}

void validate(const holding& m, const charter& rules, const resolution&) {
  check(m.by, rules);
  check(m.node < rules.nodes, "comes from no node of this run");
  check(m.self, m.number); // the question contained the leader's last resolution
  check(m.workers, m, rules);
  if (m.accepted.what.number() == 0)
    return;
  check(m.accepted.by, rules);
  check(m.accepted.what, rules);
  check(m.accepted.what.number() == m.number + 1, "has accepted what does not come next");
}

void validate(const propose& m, const charter& rules, const resolution& own) {
  check(m.by, rules);
  check_known(m.last, rules, own);
  check(m.next, rules);
  check(m.next.number() == m.last.number() + 1, "proposes what does not come next");
  check(m.next.what.limit < most_steps, "names a step that nobody reaches");
  check(m.next.stopping ? m.next.what.limit <= m.last.what.limit : !m.last.stopping,
        "proposes steps that have been given up");
}

void validate(const accepted& m, const charter& rules, const resolution&) {
  check(m.by, rules);
  check(m.node < rules.nodes, "comes from no node of this run");
}

void validate(const proceed& m, const charter& rules, const resolution& own) { check_known(m.last, rules, own); }

void validate(const refused& m, const charter& rules, const resolution& own) {
  check(m.by, rules);
  check(m.promised.node < rules.nodes && m.promised.term < most_terms, "names an attempt that nobody makes");
  if (m.last.number() != 0) // a newcomer that knows no resolution may refuse, too
    check_known(m.last, rules, own);
}

} // namespace gossamer::actors::consensus
