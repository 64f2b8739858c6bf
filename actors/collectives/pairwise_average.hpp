#pragma once

#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// Atomic averaging of two models, x_i and x_j <- (x_i + x_j) / 2, while both go on learning.
///
/// Each side adds half of the difference between what it received and what it sent:
///   x <- x + (theirs - mine) / 2,  with mine and theirs as the codec delivers them.
/// The two additions cancel exactly, so x_i + x_j does not change, whatever was compressed away and whatever gradients
/// the asking side applied while its question was under way (rule 1 of AD-PSGD's wait-free form, the delta variant).
/// The answering side averages and answers in one go, without suspending.
///
/// If the peer is lost before it answers, nothing is added. It does not matter whether the peer had added its half: a
/// worker that comes back has another model. So between two living workers, either both halves are applied or none.
///
/// Cost: one message and bits(C) payload bits in each direction.

/// The active side. Suspends until the answer is in; x may change meanwhile.
/// @param exchange numbers the questions of this worker
task<> ask_for_average(worker& w, vec& x, rank peer, std::uint64_t exchange);

/// The passive side, given a frame of kind `average_request`.
void answer_average(worker& w, vec& x, const frame& request);

} // namespace gossamer::actors
