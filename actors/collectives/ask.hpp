#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <vector>

namespace gossamer::actors {

/// A question's number has the asker's life in its upper bits.
inline constexpr int bits_of_count = 40;

/// The number of a worker's last question, as one that inherits a state goes on from it: with the worker's own life in
/// the upper bits, since answers to questions of its earlier lives may still be under way. A worker that goes on from
/// another's state in a checkpoint has a life that nobody had before.
/// @param number of the last question, in the state
std::uint64_t in_this_life(const worker& w, std::uint64_t number);

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
