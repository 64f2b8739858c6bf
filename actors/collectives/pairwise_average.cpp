#include "gossamer/actors/collectives/pairwise_average.hpp"

namespace gossamer::actors {

task<> ask_for_average(worker& w, vec& x, rank peer, average_question q) {
  co_await w.between_cuts();
  const worker::exchange both_halves{w, peer, q.number};
  const auto question = w.encode(x);
  const vec mine = w.decode(question);
  w.send(peer, {frame_kind::average_request, q.number, q.invited ? 1u : 0u}, question);
  ++w.averaged().asked;
  const tag wanted{frame_kind::average_reply, q.number};
  const auto answer = co_await w.receive(peer, wanted);
  if (!answer)
    co_return; // the peer has been lost, and its half with it
  const vec delta = q.share * (w.decode(answer->body) - mine);
  x += delta;
  ++w.averaged().done;
  both_halves.claim_opposite(delta);
}

void answer_average(worker& w, vec& x, const frame& request, float share) {
  const auto answer = w.encode(x);
  const vec mine = w.decode(answer);
  const vec delta = share * (w.decode(request.body) - mine);
  x += delta;
  w.claim_opposite(request.source, false, request.label.step, delta);
  w.send(request.source, {frame_kind::average_reply, request.label.step}, answer);
}

} // namespace gossamer::actors
