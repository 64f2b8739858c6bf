#pragma once

#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// A worker's own term in its mixture: x_i, or C(x_i) as in every other worker's.
enum class own_term { exact, compressed };

/// Sends x_i to all neighbours and returns W_ii x_i + sum over neighbours j of W_ij C(x_j), in ascending order of j.
///
/// C is the run's codec. Its message is made once and shared by all neighbours. All workers send before they wait, so
/// no cycle of waiting can form. A neighbour may be one round ahead; its frame then waits in the inbox.
///
/// The worker's own term replaces the model of a lost neighbour. So its row of W still sums to one, and among the
/// survivors W stays symmetric and doubly stochastic. Neighbours and weights do not change during a round: a new view
/// begins with a later one.
///
/// With `--islands` neighbours are heads of islands, whose graph it is, and W_ij is multiplied with the smaller number
/// of workers of both islands: a head moves for all of its island, whose mean has to follow (`average_on_island`).
/// Others have no neighbours, and return their own term.
///
/// Cost: deg(i) messages and deg(i) * bits(C) payload bits sent.
/// @param t names the round
/// @param own the worker's own term, x_i above
/// @param part tells the vectors of one round apart, which may travel side by side
task<vec> neighbour_exchange(worker& w, const vec& x, std::uint64_t t, own_term own = own_term::exact,
                             std::uint32_t part = 0);

/// The same of a message that the worker has made, its own term being q_i, what that message delivers. Neighbours'
/// messages deliver theirs: W_ii q_i + sum over j of W_ij q_j, whose sum over all workers is that of q for any codec.
/// @param message, q referred to until the task is done
task<vec> neighbour_exchange(worker& w, const packet& message, const vec& q, std::uint64_t t);

} // namespace gossamer::actors
