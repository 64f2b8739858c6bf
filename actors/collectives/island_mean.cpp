#include "gossamer/actors/collectives/island_mean.hpp"

#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/ring.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

namespace {

/// k m_I / n: 1 if all islands have as many workers.
float weight(const worker& w, const member_group& island, const member_group& heads) {
  return static_cast<float>(heads.members.size() * island.members.size()) / static_cast<float>(w.members().size());
}

/// Sends the head's vector to the others of the island. @param v any, but for the head
/// @returns absent if the head is lost
task<std::optional<vec>> try_share(worker& w, member_group island, vec v, std::uint64_t t) {
  constexpr std::uint32_t place = 1u << 24; // apart from the frames of a mean
  const tag label{frame_kind::gather_segment, t, place, island.view};
  const auto head = island.members.front();
  if (w.id() != head) {
    const auto received = co_await w.receive(head, label);
    if (!received)
      co_return std::nullopt;
    co_return w.decode(received->body);
  }
  if (island.members.size() > 1) {
    const auto whole = w.encode_exactly(v);
    for (const auto i : island.members)
      if (i != head)
        w.send(i, label, whole);
  }
  co_return v;
}

task<std::optional<vec>> try_over_islands(worker& w, vec v, std::uint64_t t, mean_among among_heads) {
  const auto island = island_of(w);
  const member_group heads{heads_of(w), island.view};
  auto mean = co_await try_mean(w, island, std::move(v), route::ring, t);
  if (!mean)
    co_return std::nullopt;
  if (w.id() == island.members.front()) {
    if (const float share = weight(w, island, heads); share != 1)
      *mean *= share;
    mean = co_await among_heads(w, heads, *std::move(mean), t);
    if (!mean)
      co_return std::nullopt;
  }
  auto shared = co_await try_share(w, island, *std::move(mean), t);
  co_return shared;
}

/// The mean of this worker's segment over the members whose values arrive.
task<island_average> mean_of_own_segment(worker& w, std::span<const rank> members, vec mine, std::uint64_t t) {
  const tag to_owner{frame_kind::reduce_segment, t};
  vec sum = zeros_like(mine);
  std::size_t arrived = 0;
  for (const auto i : members) {
    vec theirs = mine;
    if (i != w.id()) {
      const auto received = co_await w.receive(i, to_owner);
      if (!received)
        continue;
      theirs = w.decode(received->body, mine.size());
    }
    sum += theirs;
    ++arrived;
  }
  sum *= 1 / static_cast<float>(arrived);
  co_return {std::move(sum), arrived == members.size()};
}

} // namespace

member_group island_of(const worker& w) {
  auto result = members_of(w);
  const auto& islands = w.islands();
  std::erase_if(result.members, [&, own = islands.of(w.id())](rank i) { return islands.of(i) != own; });
  return result;
}

std::vector<rank> heads_of(const worker& w) { return w.islands().heads(w.members()); }

std::size_t size_of_island(const worker& w, rank i) {
  if (!w.islands().are_shared())
    return 1;
  const auto island = [&](rank j) { return w.islands().of(j); };
  return static_cast<std::size_t>(std::ranges::count(w.members(), island(i), island));
}

task<island_average> average_on_island(worker& w, vec v, std::uint64_t t) {
  if (!w.islands().are_shared())
    co_return {std::move(v)};
  const auto members = island_of(w).members;
  const ring here{w.id(), members};
  const auto M = here.size, m = here.position;
  if (M == 1)
    co_return {std::move(v)};
  const auto segment_of = [&](std::size_t k) { return segment{0, v.size()}.part(k, M); };
  vec mean{v.pool().allocate(v.size() * sizeof(float))};
  const tag to_owner{frame_kind::reduce_segment, t}, from_owner{frame_kind::gather_segment, t};
  for (const auto k : here.others())
    w.send(members[k], to_owner, w.encode_exactly(segment_of(k).part_of(v)));
  const vec mine = segment_of(m).part_of(v);
  auto own = co_await mean_of_own_segment(w, members, mine, t);
  const auto packed = w.encode_exactly(own.mean);
  for (const auto k : here.others())
    w.send(members[k], from_owner, packed);
  std::ranges::copy(own.mean.view(), segment_of(m).of(mean).begin());
  for (const auto k : here.others()) {
    const auto received = co_await w.receive(members[k], from_owner);
    if (received) {
      w.decode_into(segment_of(k).of(mean), received->body);
    } else {
      std::ranges::copy(segment_of(k).of(std::as_const(v)), segment_of(k).of(mean).begin());
      own.complete = false;
    }
  }
  co_return {std::move(mean), own.complete};
}

task<island_average> as_the_head_has_it(worker& w, island_average own, std::uint64_t t) {
  if (!w.islands().are_shared())
    co_return own;
  const member_group island{island_of(w).members, 0}; // its frames outlive the view
  auto shared = co_await try_share(w, island, own.mean, t);
  if (shared)
    own.mean = *std::move(shared);
  else
    own.complete = false;
  co_return own;
}

mean_among exact_mean(route way) {
  return [way](worker& w, member_group among, vec v, std::uint64_t t) {
    return try_mean(w, std::move(among), std::move(v), way, t);
  };
}

task<vec> mean_of_island(worker& w, const vec& v, std::uint64_t t) {
  w.expect_repeated_rounds("mean_of_island");
  for (;;) {
    auto mean = co_await try_mean(w, island_of(w), v, route::ring, t);
    if (mean)
      co_return *std::move(mean);
  }
}

task<vec> mean_over_islands(worker& w, const vec& v, std::uint64_t t, mean_among among_heads) {
  w.expect_repeated_rounds("mean_over_islands");
  for (;;) {
    auto mean = co_await try_over_islands(w, v, t, among_heads);
    if (mean)
      co_return *std::move(mean);
  }
}

} // namespace gossamer::actors
