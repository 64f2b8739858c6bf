#pragma once

#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// Atomic averaging of two models while both go on learning: x_i <- x_i + s (x_j - x_i), x_j <- x_j + s (x_i - x_j);
/// for a share s of 1/2 both become the mean.
///
/// Each side adds this share of the difference between what it received and what it sent:
///   x <- x + s (theirs - mine),  with mine and theirs as the codec delivers them.
/// The two additions cancel exactly, so x_i + x_j does not change, whatever was compressed away, whatever gradients the
/// asking side applied while its question was under way (rule 1 of AD-PSGD's wait-free form, the delta variant), and in
/// whatever order it gets the answers to several questions. The answering side averages and answers in one go, without
/// suspending.
///
/// A worker with N questions under way asks all with about the same x. N answers move it by N s of its mean distance
/// from the others: past their mean if s > 1/N, and further away than it was if s > 2/N. s = 1/(1 + N) puts it at the
/// mean of all 1 + N.
///
/// If the peer is lost before it answers, nothing is added. It does not matter whether the peer had added its half: a
/// worker that comes back has another model. So between two living workers, either both halves are applied or none.
///
/// Cost: one message and bits(C) payload bits in each direction.

/// A question for an average.
struct average_question {
  std::uint64_t number = 0; ///< among the questions of this worker
  float share = 0.5f;       ///< of the difference, the same for both sides
  bool invited = false;     ///< the peer has asked for it; the part of the request's tag says so
};

/// The active side. Suspends until the answer is in, and before it asks while a checkpoint is to be saved; x may change
/// meanwhile.
task<> ask_for_average(worker& w, vec& x, rank peer, average_question q);

/// The passive side, given a frame of kind `average_request`.
void answer_average(worker& w, vec& x, const frame& request, float share = 0.5f);
/// True if this worker has invited the request.
inline bool was_invited(const frame& request) { return request.label.part == 1; }

} // namespace gossamer::actors
