#pragma once

#include "gossamer/actors/collectives/member_group.hpp"
#include "gossamer/actors/collectives/route.hpp"

#include <functional>
#include <optional>

namespace gossamer::actors {

/// The mean of v over this worker's island (`--islands`), the same bits on all its workers: v itself, if it is alone.
///
/// Cost: those of a ring all-reduce of the m workers of the island, 2 (m - 1) / m * 32d payload bits sent by each. When
/// a member is lost, the others repeat the round, as in `all_reduce`, and for the same algorithms.
/// @param t names the round; unique among the rounds of a run, as for the next
task<vec> mean_of_island(worker& w, const vec& v, std::uint64_t t);

/// The workers of this one's island that are there.
member_group island_of(const worker& w);
/// The first worker of each island that has one: its head. Without islands all workers.
std::vector<rank> heads_of(const worker& w);
/// Number of workers on the island of worker i; 1 without islands.
std::size_t size_of_island(const worker& w, rank i);

/// The outcome of a round that goes on without lost workers.
struct island_average {
  vec mean;
  bool complete = true; ///< nothing that this worker waited for was lost
};

/// The mean of v over this worker's island, for algorithms that finish their rounds without lost workers, as gossip
/// does: each member owns a segment, averages what arrives of it, and sends the mean to all. In place of a lost owner's
/// segment a worker keeps its own, so that workers of an island may differ until the next round.
///
/// Cost: 2 (m - 1) messages and 2 (m - 1) / m * 32d payload bits sent by each of m workers; two hops.
task<island_average> average_on_island(worker& w, vec v, std::uint64_t t);
/// The mean that the head of this worker's island passes here, for the same algorithms; the own one, if the head is
/// lost.
///
/// Cost: (m - 1) messages and (m - 1) 32d payload bits sent by the head; one hop.
task<island_average> as_the_head_has_it(worker& w, island_average own, std::uint64_t t);

/// One attempt at a mean among members of a view.
using mean_among = std::function<task<std::optional<vec>>(worker& w, member_group among, vec v, std::uint64_t t)>;
/// An all-reduce of 32-bit floats.
mean_among exact_mean(route way);

/// The mean of v over all workers in two levels, the same bits on all of them:
///
///   v_I = (1/m_I) sum of v_i in the island I;   mean = (1/k) sum_I (k m_I / n) v_I, among the heads of k islands
///
/// A head is the first worker of its island. It sends the others the mean in 32-bit floats.
///
/// Cost: as `mean_of_island` and, for heads, as `among_heads` with k members, and (m - 1) 32d bits; two more hops. So a
/// bit crosses between islands once for each island and not for each worker. Without islands, `among_heads` alone.
task<vec> mean_over_islands(worker& w, const vec& v, std::uint64_t t, mean_among among_heads);

} // namespace gossamer::actors
