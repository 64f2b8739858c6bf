#pragma once

#include "gossamer/actors/runtime/worker.hpp"

namespace gossamer::actors {

/// v <- sum of all workers' v, the same bits on every worker.
///
/// Ring all-reduce (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009).
/// The vector is cut into M segments with edges floor(k D / M). Each worker sends only to its successor. In M - 1
/// reduce-scatter steps a segment travels round the ring and collects everybody's part; in M - 1 all-gather steps the
/// complete segments travel round. Any length, also shorter than M.
///
/// Cost: 2 (M - 1) messages and 2 (M - 1) / M * 32 D payload bits sent by each worker; 2 (M - 1) hops one after
/// another. Determinism: segment k is summed in the order k, k + 1, ..., whatever the timing.
/// @param t names the round; unique among the rounds of a run
task<> ring_all_reduce(worker& w, vec& v, std::uint64_t t);

} // namespace gossamer::actors
