#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace gossamer::actors {

task<vec> neighbour_exchange(worker& w, const vec& x, std::uint64_t t, own_term own, std::uint32_t part) {
  const tag round{frame_kind::model, t, part};
  const auto message = w.encode(x);
  const vec mine = own == own_term::exact ? x : w.decode(message);
  w.send_to_neighbours(round, message);
  vec mixed = w.mixing(w.id()) * mine;
  bool complete = true;
  for (const auto j : w.neighbours()) {
    const auto received = co_await w.receive(j, round);
    mixed += w.mixing(j) * (received ? w.decode(received->body) : mine);
    complete = complete && received;
  }
  if (complete && w.exact_codec())
    w.claim_conserved(part == 0 ? "the sum of the models" : "the sum of the vectors beside them", t, x, mixed);
  co_return mixed;
}

} // namespace gossamer::actors
