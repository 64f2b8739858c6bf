#pragma once

#include "gossamer/actors/runtime/worker.hpp"

namespace gossamer::actors {

/// The sum of all members' v, the same bits on every member, along a ring: see `all_reduce` in all_reduce.hpp.
///
/// Cost: 2 (M - 1) messages and 2 (M - 1) / M * 32 D payload bits sent by each of M members; 2 (M - 1) hops one after
/// another. For algorithms that repeat interrupted rounds.
/// @param t names the round; unique among the rounds of a run
task<vec> ring_all_reduce(worker& w, const vec& v, std::uint64_t t);

} // namespace gossamer::actors
