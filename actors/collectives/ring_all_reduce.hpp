#pragma once

#include "gossamer/actors/runtime/worker.hpp"

namespace gossamer::actors {

/// The sum of all members' v, the same bits on every member.
///
/// Ring all-reduce (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009).
/// The vector is cut into M segments, for M members, with edges floor(k D / M). Each worker sends only to its
/// successor. In M - 1 reduce-scatter steps a segment travels round the ring and collects everybody's part; in M - 1
/// all-gather steps the complete segments travel round. Any length, also shorter than M.
///
/// Cost: 2 (M - 1) messages and 2 (M - 1) / M * 32 D payload bits sent by each member; 2 (M - 1) hops one after
/// another. Determinism: segment k is summed in the order k, k + 1, ..., whatever the timing.
/// When a member is lost, the others do the round again, from the same v, along the ring of the new view. For
/// algorithms that repeat interrupted rounds (`interrupted_round::repeat`): one that is not may be a round ahead of
/// another, which then gets its state and never sees the end of this call.
/// @param t names the round; unique among the rounds of a run
task<vec> ring_all_reduce(worker& w, const vec& v, std::uint64_t t);

} // namespace gossamer::actors
