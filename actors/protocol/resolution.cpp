#include "gossamer/actors/protocol/resolution.hpp"

#include <algorithm>

namespace gossamer::actors::consensus {

bool resolution::knows(node_number node, std::uint32_t life) const {
  const auto found = nodes.find(node);
  return found != nodes.end() && found->second.life == life;
}

bool resolution::elected_by(const std::set<node_number>& some) const {
  const auto votes = 2 * std::ranges::count_if(voters, [&](auto v) { return some.contains(v); });
  const auto all = std::ssize(voters);
  return votes > all || (votes == all && all > 0 && some.contains(*voters.begin()));
}

bool operator==(const resolution& a, const resolution& b) {
  return a.what.number == b.what.number && a.what.view == b.what.view && a.what.limit == b.what.limit
         && a.what.save_at == b.what.save_at && a.what.parting == b.what.parting && a.stopping == b.stopping
         && a.why == b.why && a.nodes == b.nodes && a.voters == b.voters && a.leader == b.leader;
}

resolution founding(const std::vector<node_number>& homes, const std::set<node_number>& voters, std::uint64_t limit,
                    const std::set<rank>& absent) {
  GOSSAMER_ASSERT(!voters.empty() && voters.size() <= most_voters, "a run begins with one to seven voters");
  resolution first;
  first.what.number = 1;
  first.what.limit = limit;
  for (rank i = 0; i < homes.size(); ++i)
    if (!absent.contains(i)) {
      first.what.view.lives.emplace(i, 0);
      first.nodes.emplace(homes[i], process{});
    }
  for (const auto v : voters)
    first.nodes.emplace(v, process{});
  first.voters = voters;
  first.leader = *voters.begin();
  return first;
}

} // namespace gossamer::actors::consensus
