#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <vector>

namespace gossamer::actors {

inline constexpr int bits_of_count = 40;

/// The number in a question's label: how many questions the worker has asked, below `worker::life_of_draws`. A worker
/// that goes on from its own state repeats a number. One that goes on from another's does not, and answers to questions
/// of its rank's earlier lives, which may still be under way, bear others.
std::uint64_t question_number(const worker& w, std::uint64_t count);

/// Asks a master and awaits its answer, however often the master dies meanwhile: the question is asked again when the
/// master is back. The master's side is a `master`, which acts on each question once.
///
/// Cost: one message each way.
/// @param count of the worker's questions, this one included: a part of its state
/// @param part  the question itself, in the algorithm's own numbers
task<frame> ask(worker& w, rank master, std::uint64_t count, std::uint32_t part, packet body);

/// Asks all masters at once, one question each; the answers are in the same order.
task<std::vector<frame>> ask_all(worker& w, std::uint64_t count, std::uint32_t part, std::vector<packet> bodies);

} // namespace gossamer::actors
