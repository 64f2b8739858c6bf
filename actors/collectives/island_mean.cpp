#include "gossamer/actors/collectives/island_mean.hpp"

#include "gossamer/actors/collectives/dense_sum.hpp"

#include <utility>

namespace gossamer::actors {

namespace {

/// The workers of this one's island that are there.
member_group island_of(const worker& w) {
  auto result = members_of(w);
  const auto& islands = w.islands();
  std::erase_if(result.members, [&, own = islands.of(w.id())](rank i) { return islands.of(i) != own; });
  return result;
}

/// The first worker of each island that has one.
member_group heads_of(const worker& w) {
  auto result = members_of(w);
  if (w.islands().count() == 0)
    return result;
  std::vector<bool> has_head(w.islands().count());
  std::erase_if(result.members, [&](rank i) {
    const bool later = has_head[w.islands().of(i)];
    has_head[w.islands().of(i)] = true;
    return later;
  });
  return result;
}

/// k m_I / n: 1 if all islands have as many workers.
float weight(const worker& w, const member_group& island, const member_group& heads) {
  return static_cast<float>(heads.members.size() * island.members.size()) / static_cast<float>(w.members().size());
}

/// Sends the head's vector to the others of the island. @param v any, but for the head
task<std::optional<vec>> try_share(worker& w, member_group island, vec v, std::uint64_t t) {
  constexpr std::uint32_t place = 1u << 24; // apart from the frames of an all-reduce
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
  const auto island = island_of(w), heads = heads_of(w);
  auto mean = co_await try_exact_mean(w, island, std::move(v), t);
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

} // namespace

task<std::optional<vec>> try_exact_mean(worker& w, member_group among, vec v, std::uint64_t t) {
  return try_mean(w, std::move(among), std::move(v), route::ring, t);
}

task<vec> mean_of_island(worker& w, const vec& v, std::uint64_t t) {
  for (;;) {
    auto mean = co_await try_exact_mean(w, island_of(w), v, t);
    if (mean)
      co_return *std::move(mean);
  }
}

task<vec> mean_over_islands(worker& w, const vec& v, std::uint64_t t, mean_among among_heads) {
  for (;;) {
    auto mean = co_await try_over_islands(w, v, t, among_heads);
    if (mean)
      co_return *std::move(mean);
  }
}

} // namespace gossamer::actors
