#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <optional>

namespace gossamer::actors {

/// Returns the mean of all members' vectors as the run's codec C delivers it: the same bits on every member.
///
/// The vector is cut into M segments, and member k owns segment k (ring.hpp). Each worker sends C of its segment k to
/// its owner, which takes the mean of what M packets deliver, its own included, in the order of the members. Then it
/// sends C of the mean to all others; it keeps what that packet delivers, as they do:
///
///   segment k of the result = C((1/M) sum_i C(segment k of v_i))
///
/// Each value is rounded twice on its way, however many members there are, and nothing is kept of the error. All
/// workers send before they wait, so that no cycle of waiting can form.
///
/// Cost: 2 (M - 1) messages and 2 (M - 1) / M bits(C) payload bits sent by each member, in two hops. (A ring all-gather
/// of whole packets sends (M - 1) bits(C), and rounds once.) When a member is lost, the others repeat the round, as in
/// `all_reduce`, and for the same algorithms.
/// @param t names the round; unique among the rounds of a run
task<vec> packed_mean_of_all(worker& w, const vec& v, std::uint64_t t);

/// One attempt, among the members of the present view; `nullopt` if that view ends first: see `try_ring_all_gather`.
task<std::optional<vec>> try_packed_mean(worker& w, vec v, std::uint64_t t);

} // namespace gossamer::actors
