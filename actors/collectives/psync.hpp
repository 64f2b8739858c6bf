#pragma once

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
///  - linear (grbs, identity): only the elements that are kept, close together and without indices, are summed by a
///    ring all-reduce. All workers keep the same ones: their choice is drawn from what they share.
///  - any other: the packets go round by a ring all-gather. Each worker draws from random numbers of its own.
///  - none: nothing is sent, v' = 0.

/// What of a vector takes part in a round, and what does not.
struct psync_part {
  vec residual; ///< r_i

  std::optional<compress::selection> kept = {}; ///< of a linear codec,
  vec values = {};                              ///< and the elements that it keeps, in the memory of the host
  std::optional<packet> message = {};           ///< of any other codec
};

/// @param c      null: none
/// @param shared whose random numbers a linear codec draws from, those of step t
psync_part part_of(worker& w, const vec& v, const compress::codec* c, purpose shared, std::uint64_t t);

/// x <- x + vbar, for the vbar of each part in their order; the same bits are added on every member.
///
/// x changes when the round has succeeded, and not before; nothing is awaited afterwards. n counts the members of the
/// view in which it succeeded. When a member is lost, the others do the whole round again with the same parts. For
/// algorithms that repeat interrupted rounds, and are in the same round of step t on all workers: one round a step.
///
/// Cost for k elements kept by linear codecs, together, and packets of b bits: if there is a linear codec, 2 (M - 1)
/// messages with 2 (M - 1) / M * 32 k payload bits; and for each part with packets M - 1 messages with (M - 1) b bits.
/// Sums are formed in the order of the members, those of the all-reduce as it says.
task<> add_means(worker& w, vec& x, std::vector<psync_part> parts, std::uint64_t t);

} // namespace gossamer::actors
