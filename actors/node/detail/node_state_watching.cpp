// Records of members and workers, for an observer that watches them.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace gossamer::actors::detail {

namespace {

constexpr double between_counts_s = seconds{between_activities}.count();

using edges = std::vector<topology::graph::edge>;

edges star_of(const view_record& v) {
  edges all;
  for (const auto master : v.masters)
    for (const auto worker : v.members)
      all.emplace_back(worker, master);
  return all;
}

edges ring_of(const std::vector<rank>& members) {
  edges all;
  for (std::size_t k = 0; k + 1 < members.size(); ++k)
    all.emplace_back(members[k], members[k + 1]);
  if (members.size() > 2)
    all.emplace_back(members.front(), members.back());
  return all;
}

void add_rings_within(const topology::islands& islands, view_record& v) {
  if (!islands.are_shared())
    return;
  std::map<std::size_t, std::vector<rank>> of_island;
  for (const auto i : v.members)
    of_island[islands.of(i)].push_back(i);
  for (const auto& [_, members] : of_island)
    std::ranges::copy(ring_of(members), std::back_inserter(v.edges));
}

} // namespace

view_record node_state::present_view() {
  const auto& change = protocol_->delegate().last().what.view;
  view_record v{.time_s = elapsed(), .number = change.number, .leader = setup_.number};
  for (const auto& [i, life] : change.lives)
    (setup_.run->is_master(i) ? v.masters : v.members).push_back(i);
  for (const auto* ranks : {&v.members, &v.masters})
    for (const auto i : *ranks)
      v.nodes.push_back(i < setup_.rules->homes.size() ? setup_.rules->homes[i] : setup_.number);
  if (setup_.run->exchange() != exchange_pattern::all)
    v.edges = views_->graph_of(change).edges();
  else
    v.edges = v.masters.empty() ? ring_of(setup_.run->islands.heads(v.members)) : star_of(v);
  add_rings_within(setup_.run->islands, v);
  return v;
}

workers_record node_state::present_counts() {
  const auto& counted = leadership_->progress.ledger();
  workers_record r{.time_s = elapsed(), .has_islands = setup_.spawn.gauges->has_islands()};
  for (rank i = 0; i < setup_.run->participants(); ++i) {
    const auto sent = counted.sent(i);
    r.of.push_back({counted.steps(i), sent.payload_bits, sent.wire_bits, sent.bits_between_islands});
  }
  for (auto& one : setup_.spawn.gauges->sample(now()))
    leadership_->activity[one.who] = std::move(one);
  for (const auto& [who, one] : leadership_->activity)
    if (protocol_->leader()->members().alive(who))
      add(r, one);
  keep_largest(r);
  return r;
}

/// Voters send heartbeats, too.
void node_state::on_heartbeat(const heartbeat& m) {
  hear();
  if (const auto* from = speaker(); from != nullptr && from->number == protocol_->leader_node())
    leader_is_watched_ = m.watched;
}

void node_state::show_workers() {
  if (!is_watched())
    return;
  if (const auto view = protocol_->delegate().last().what.view.number; leadership_->shown_view != view) {
    leadership_->shown_view = view;
    show([&](run_observer& o) { o.on_view(present_view()); });
  }
  if (leadership_->shown_s == 0 || elapsed() >= leadership_->shown_s + between_counts_s) {
    leadership_->shown_s = elapsed();
    show([&](run_observer& o) { o.on_workers(present_counts()); });
  }
}

} // namespace gossamer::actors::detail
