#include "gossamer/topology/overlay.hpp"

#include "gossamer/topology/detail/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace gossamer::topology {
namespace {

using allowed = std::function<bool(rank, rank)>;

/// Returns the original edges whose two ends are both present, or both absent.
std::vector<graph::edge> edges_within(const graph& g, const std::vector<bool>& present, bool inside) {
  auto edges = g.edges();
  std::erase_if(edges, [&](const auto& e) { return present[e.first] != inside || present[e.second] != inside; });
  return edges;
}

/// Returns the rims of all holes, each ascending, in the order of the holes' lowest workers.
std::vector<std::set<rank>> rims(const graph& original, const std::vector<bool>& present) {
  const graph lost{original.size(), edges_within(original, present, false)};
  const auto holes = detail::search(lost);
  std::map<rank, std::set<rank>> rim_of;
  for (rank i = 0; i < original.size(); ++i)
    for (rank j : original.neighbours(i))
      if (!present[i] && present[j])
        rim_of[holes.root[i]].insert(j);
  std::vector<std::set<rank>> result;
  result.reserve(rim_of.size());
  for (auto& [hole, rim] : rim_of)
    result.push_back(std::move(rim));
  return result;
}

/// Adds the edges that close one hole.
void close(const std::set<rank>& rim, const std::vector<rank>& piece, const allowed& may_join,
           std::vector<graph::edge>& edges) {
  const bool together = std::ranges::all_of(rim, [&](rank i) { return piece[i] == piece[*rim.begin()]; });
  if (rim.size() < 2 || (rim.size() > 2 && together))
    return;
  rank previous = *rim.rbegin();
  for (rank i : rim) {
    if (may_join(previous, i))
      edges.emplace_back(previous, i);
    previous = i;
  }
}

/// Returns the next edge between the piece of the lowest member and another piece; `nullopt` when one piece is left.
std::optional<graph::edge> next_link(const graph& g, const std::vector<rank>& members, const allowed& may_join) {
  const auto piece = detail::search(g).root;
  std::vector<rank> inside, outside;
  for (rank i : members)
    (piece[i] == piece[members.front()] ? inside : outside).push_back(i);
  std::ranges::stable_sort(inside, {}, [&](rank i) { return g.degree(i); });
  for (rank out : outside)
    for (rank in : inside)
      if (may_join(out, in))
        return graph::edge{out, in};
  return std::nullopt;
}

/// Divides the members into classes. When one class has died out, the lowest of two or more survivors changes class; a
/// single survivor is active.
bipartition assign(const std::vector<rank>& members, const std::vector<bool>& active) {
  bipartition roles;
  for (rank i : members)
    (active[i] ? roles.active : roles.passive).push_back(i);
  const auto move_lowest = [](std::vector<rank>& from, std::vector<rank>& to) {
    to.push_back(from.front());
    from.erase(from.begin());
  };
  if (roles.active.empty() && !roles.passive.empty())
    move_lowest(roles.passive, roles.active);
  else if (roles.passive.empty() && roles.active.size() > 1)
    move_lowest(roles.active, roles.passive);
  return roles;
}

} // namespace

overlay::overlay(graph original, repair how)
    : original_(std::move(original)), how_(how), present_(original_.size(), true) {
  if (!original_.connected())
    throw error(errc::usage, "workers can come and go only in a connected graph", "add edges between its parts");
  if (how_ == repair::bipartite) {
    active_.resize(original_.size());
    for (rank i : split(original_).active)
      active_[i] = true;
  }
  rebuild();
}

overlay overlay::without(rank lost) const { return changed(lost, false); }
overlay overlay::with(rank returned) const { return changed(returned, true); }

overlay overlay::changed(rank i, bool present) const {
  if (i >= original_.size())
    throw error(errc::usage, fmt::format("there is no worker {}", i),
                fmt::format("the topology has {} workers, from 0", original_.size()));
  auto all = present_;
  all[i] = present;
  return among(std::move(all));
}

overlay overlay::among(std::vector<bool> present) const {
  if (present.size() != original_.size())
    throw error(errc::usage, fmt::format("{} workers are or are not there", present.size()),
                fmt::format("the topology has {}", original_.size()));
  overlay result = *this;
  if (present_ != present) {
    result.present_ = std::move(present);
    result.rebuild();
  }
  return result;
}

std::vector<rank> overlay::members() const {
  std::vector<rank> result;
  for (rank i = 0; i < present_.size(); ++i)
    if (present_[i])
      result.push_back(i);
  return result;
}

const bipartition& overlay::roles() const {
  GOSSAMER_ASSERT(how_ == repair::bipartite, "only a bipartite overlay has roles");
  return roles_;
}

void overlay::rebuild() {
  const auto everybody = members();
  allowed may_join = [](rank, rank) { return true; };
  if (how_ == repair::bipartite) {
    roles_ = assign(everybody, active_);
    may_join = [this](rank i, rank j) {
      return std::ranges::binary_search(roles_.active, i) != std::ranges::binary_search(roles_.active, j);
    };
  }
  auto edges = edges_within(original_, present_, true);
  current_ = graph{original_.size(), edges};
  const auto piece = detail::search(current_).root;
  for (const auto& rim : rims(original_, present_))
    close(rim, piece, may_join, edges);
  current_ = graph{original_.size(), edges};
  if (how_ == repair::any)
    return; // every hole is closed, so one piece is left
  while (const auto added = next_link(current_, everybody, may_join)) {
    edges.push_back(*added);
    current_ = graph{original_.size(), edges};
  }
}

} // namespace gossamer::topology
