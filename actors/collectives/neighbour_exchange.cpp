#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace gossamer::actors {

task<vec> neighbour_exchange(worker& w, const vec& x, std::uint64_t t) {
  const tag round{frame_kind::model, t};
  w.send_to_neighbours(round, w.encode(x));
  vec mixed = w.mixing(w.id()) * x;
  for (const auto j : w.neighbours()) {
    const auto received = co_await w.receive(j, round);
    mixed += w.mixing(j) * w.decode(received.body);
  }
  co_return mixed;
}

} // namespace gossamer::actors
