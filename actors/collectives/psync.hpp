#pragma once

#include "gossamer/actors/collectives/route.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <optional>
#include <vector>

namespace gossamer::actors {

/// PSync, partial synchronisation (Xie et al., CSER, NeurIPS 2020, algorithm 3), in two halves:
///
///   v'_i = C(v_i);  r_i = v_i - v'_i          `part_of`, which sends nothing
///   vbar = (1/n) sum_i v'_i                   `add_means`, one round
///
/// and PSync(v_i, C) = vbar + r_i, whose mean over all workers is that of v_i for any C. Several vectors may take part
/// in one round; a residual can thus go into the next of them before anything has been sent.
///
/// How v'_i travels depends on C:
///  - linear (grbs, identity): a ring all-reduce sums only the elements that are kept, packed and without indices. All
///    workers keep the same ones, drawn from shared random numbers.
///  - any other: an all-gather sends the packets to all. Each worker draws from random numbers of its own.
///  - none: nothing is sent, v' = 0.

/// The part of a vector that takes part in a round, and the rest.
struct psync_part {
  vec residual; ///< r_i

  std::optional<compress::selection> kept = {}; ///< choice of a linear codec
  vec values = {};                              ///< the chosen elements, in the memory of the host
  std::optional<packet> message = {};           ///< packet of any other codec
};

/// @param c      null: none
/// @param shared the random numbers from which a linear codec draws, at step t
psync_part part_of(worker& w, const vec& v, const compress::codec* c, purpose shared, std::uint64_t t);

/// x <- x + vbar, for the vbar of each part in their order; the same bits are added on every member.
///
/// x changes only when the round has succeeded; nothing is awaited afterwards. n counts the members of the view in
/// which it succeeded. When a member is lost, the others repeat the whole round with the same parts. For algorithms
/// that repeat interrupted rounds, and are in the same round of step t on all workers: one round a step.
///
/// Cost for k elements kept by linear codecs, together, and packets of b bits: if there is a linear codec, 2 (M - 1)
/// messages with 2 (M - 1) / M * 32 k payload bits; and for each part with packets M - 1 messages with (M - 1) b bits.
/// Packets are summed in the order of the members, kept elements in the order of the all-reduce.
task<> add_means(worker& w, vec& x, std::vector<psync_part> parts, route way, std::uint64_t t);

} // namespace gossamer::actors
