#pragma once

#include "gossamer/actors/collectives/route.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <optional>
#include <vector>

namespace gossamer::actors {

/// Returns the packets of all members, in their order: the same on every member, its own included.
///
/// Ring, and every way but the direct one: in M - 1 hops each worker sends to its successor the packet that it received
/// in the hop before, first its own. Direct: each worker sends its own packet to all others, in one hop.
///
/// Packets travel unchanged and are never encoded again, so the result is exact for every codec, also for packets that
/// cannot be summed.
///
/// Cost: M - 1 messages, and the payload bits of all packets but its successor's, or M - 1 times those of its own, sent
/// by each member. When a member is lost, the others repeat the round, as in `all_reduce`, and for the same algorithms.
/// @param t names the round; unique among the rounds of a run
task<std::vector<packet>> all_gather(worker& w, packet mine, route way, std::uint64_t t);

/// One attempt, among the members of the present view; `nullopt` if that view ends first. For rounds of several
/// collectives: they must be repeated together, since other workers may still be in the first of them.
/// @param lane tells several gatherings of one round apart
task<std::optional<std::vector<packet>>> try_all_gather(worker& w, packet mine, route way, std::uint64_t t,
                                                        std::uint32_t lane = 0);

} // namespace gossamer::actors
