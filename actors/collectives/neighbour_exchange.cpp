#include "gossamer/actors/collectives/neighbour_exchange.hpp"

#include "gossamer/actors/collectives/island_mean.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

/// W_ij, times the smaller number of workers of both islands.
float weight(const worker& w, rank j) {
  return w.mixing(j) * static_cast<float>(std::min(size_of_island(w, w.id()), size_of_island(w, j)));
}

float own_weight(const worker& w) {
  if (!w.islands().are_shared())
    return w.mixing(w.id());
  float rest = 1;
  for (const auto j : w.neighbours())
    rest -= weight(w, j);
  return rest;
}

/// @param conserves whether the sum of all `mixed` is that of all `mine`
task<vec> mix(worker& w, const packet& message, const vec& mine, bool conserves, std::uint64_t t, std::uint32_t part) {
  const tag round{frame_kind::model, t, part};
  w.send_to_neighbours(round, message);
  vec mixed = own_weight(w) * mine;
  for (const auto j : w.neighbours()) {
    const auto received = co_await w.receive(j, round);
    mixed += weight(w, j) * (received ? w.decode(received->body) : mine);
    conserves = conserves && received;
  }
  if (conserves)
    w.claim_conserved(part == 0 ? "the sum of the models" : "the sum of the vectors beside them", t, mine, mixed);
  co_return mixed;
}

} // namespace

task<vec> neighbour_exchange(worker& w, const vec& x, std::uint64_t t, own_term own, std::uint32_t part) {
  const auto message = w.encode(x);
  const vec mine = own == own_term::exact ? x : w.decode(message);
  co_return co_await mix(w, message, mine, own == own_term::compressed || w.exact_codec(), t, part);
}

task<vec> neighbour_exchange(worker& w, const packet& message, const vec& q, std::uint64_t t) {
  return mix(w, message, q, true, t, 0);
}

} // namespace gossamer::actors
