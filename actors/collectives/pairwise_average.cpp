#include "gossamer/actors/collectives/pairwise_average.hpp"

namespace gossamer::actors {

task<> ask_for_average(worker& w, vec& x, rank peer, std::uint64_t exchange) {
  const worker::exchange both_halves{w, peer};
  const auto question = w.encode(x);
  const vec mine = w.decode(question);
  w.send(peer, {frame_kind::average_request, exchange}, question);
  const tag wanted{frame_kind::average_reply, exchange};
  const auto answer = co_await w.receive(peer, wanted);
  if (!answer)
    co_return; // the peer has been lost, and its half with it
  const vec delta = 0.5f * (w.decode(answer->body) - mine);
  x += delta;
  w.claim_opposite(peer, true, exchange, delta);
}

void answer_average(worker& w, vec& x, const frame& request) {
  const auto answer = w.encode(x);
  const vec mine = w.decode(answer);
  const vec delta = 0.5f * (w.decode(request.body) - mine);
  x += delta;
  w.claim_opposite(request.source, false, request.label.step, delta);
  w.send(request.source, {frame_kind::average_reply, request.label.step}, answer);
}

} // namespace gossamer::actors
