#include "gossamer/actors/collectives/neighbour_exchange.hpp"

#include "gossamer/actors/collectives/island_mean.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

struct exchange_weights {
  float own;
  std::vector<float> of_neighbours;
};

exchange_weights weights_of(const worker& w) {
  exchange_weights result{.own = w.mixing(w.id()), .of_neighbours = {}};
  for (const auto j : w.neighbours())
    result.of_neighbours.push_back(w.mixing(j));
  if (!w.islands().are_shared())
    return result;
  result.own = 1;
  for (std::size_t k = 0; const auto j : w.neighbours()) {
    auto& weight = result.of_neighbours[k++];
    weight *= static_cast<float>(std::min(size_of_island(w, w.id()), size_of_island(w, j)));
    result.own -= weight;
  }
  return result;
}

/// @param conserves whether the sum of all `mixed` is that of all `mine`
task<vec> mix(worker& w, const packet& message, const vec& mine, bool conserves, std::uint64_t t, std::uint32_t part) {
  const tag round{frame_kind::model, t, part};
  w.send_to_neighbours(round, message);
  const auto weights = weights_of(w);
  vec mixed = weights.own * mine;
  const auto neighbours = w.neighbours();
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    const auto received = co_await w.receive(neighbours[k], round);
    mixed += weights.of_neighbours[k] * (received ? w.decode(received->body) : mine);
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
