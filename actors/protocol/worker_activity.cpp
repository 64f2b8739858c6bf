#include "gossamer/actors/protocol/worker_activity.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

/// Sorts by this member, the largest first, and leaves as many as there is room for.
template <class Row, class Value>
void keep_largest(std::vector<Row>& rows, Value Row::*value) {
  const auto kept = std::min(rows.size(), workers_record::most_pairs);
  const auto end_of_kept = rows.begin() + static_cast<std::ptrdiff_t>(kept);
  std::ranges::partial_sort(rows, end_of_kept, std::ranges::greater{}, value);
  rows.resize(kept);
}

} // namespace

worker_activity activity_of(rank who, const time_sheet& sheet, time_sheet::time now) {
  worker_activity a{.who = who};
  for (const auto& [whom, time] : sheet.waited())
    if (whom != who)
      a.waited_ns[whom] += static_cast<std::uint64_t>(time.count());
  for (const auto& w : sheet.waits()) {
    a.waited_ns[w.whom] += static_cast<std::uint64_t>(std::max(now - w.since, time_sheet::time{0}).count());
    if (a.waits_for.size() < worker_activity::most_peers)
      a.waits_for.push_back(w.whom);
  }
  keep_largest(a.waited_ns);
  auto until_now = sheet;
  until_now.give_up(now);
  for (const auto what : activities)
    a.used_ns.push_back(static_cast<std::uint64_t>(until_now.used().of(what)));
  return a;
}

void keep_largest(std::map<rank, std::uint64_t>& of_peers) {
  if (of_peers.size() <= worker_activity::most_peers)
    return;
  std::vector<std::uint64_t> values(of_peers.size());
  std::ranges::transform(of_peers, values.begin(), [](const auto& one) { return one.second; });
  std::ranges::nth_element(values, values.begin() + worker_activity::most_peers - 1, std::ranges::greater{});
  const auto least = values[worker_activity::most_peers - 1];
  std::erase_if(of_peers, [&](const auto& one) { return one.second < least; });
  while (of_peers.size() > worker_activity::most_peers) // several have the least value
    of_peers.erase(std::ranges::find_if(of_peers, [&](const auto& one) { return one.second == least; }));
}

void add(workers_record& to, const worker_activity& one) {
  for (const auto& [peer, rate] : one.bits_per_second)
    if (rate > 0)
      to.links.push_back({one.who, peer, rate});
  if (one.used_ns.empty())
    return;
  if (!to.waits)
    to.waits.emplace();
  for (const auto whom : one.waits_for)
    to.waits->emplace_back(one.who, whom);
  for (const auto& [whom, ns] : one.waited_ns)
    to.waited.push_back({one.who, whom, ns});
  to.used.resize(to.of.size());
  for (const auto what : activities)
    if (one.who < to.used.size() && static_cast<std::size_t>(what) < one.used_ns.size())
      to.used[one.who].of(what) = static_cast<std::int64_t>(one.used_ns[static_cast<std::size_t>(what)]);
}

void keep_largest(workers_record& r) {
  keep_largest(r.links, &workers_record::link::bits_per_second);
  keep_largest(r.waited, &workers_record::wait::ns);
  if (r.waits && r.waits->size() > workers_record::most_waits)
    r.waits->resize(workers_record::most_waits);
}

} // namespace gossamer::actors
