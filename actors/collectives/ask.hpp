#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <vector>

namespace gossamer::actors {

/// The number before that of a worker's first question in this life, which a worker that inherits a state begins with:
/// answers to questions of its earlier lives may still be under way, and bear other numbers.
std::uint64_t questions_of_earlier_lives(const worker& w);

/// Asks a master and awaits its answer, however often the master dies meanwhile: the question is asked again when the
/// master is back. The master's side is a `master`, which acts on each question once.
///
/// Cost: one message each way.
/// @param number of the question: greater than those of this worker's earlier questions to this master
/// @param part   the question itself, in the algorithm's own numbers
task<frame> ask(worker& w, rank master, std::uint64_t number, std::uint32_t part, packet body);

/// Asks all masters at once, one question each; the answers are in the same order.
task<std::vector<frame>> ask_all(worker& w, std::uint64_t number, std::uint32_t part, std::vector<packet> bodies);

} // namespace gossamer::actors
