#include "gossamer/actors/collectives/pairwise_average.hpp"

namespace gossamer::actors {

task<> ask_for_average(worker& w, vec& x, rank peer, std::uint64_t exchange) {
  const auto question = w.encode(x);
  const vec mine = w.decode(question);
  w.send(peer, {frame_kind::average_request, exchange}, question);
  const auto answer = co_await w.receive(peer, {frame_kind::average_reply, exchange});
  x += 0.5f * (w.decode(answer.body) - mine);
}

void answer_average(worker& w, vec& x, const frame& request) {
  const auto answer = w.encode(x);
  const vec mine = w.decode(answer);
  x += 0.5f * (w.decode(request.body) - mine);
  w.send(request.source, {frame_kind::average_reply, request.label.step}, answer);
}

} // namespace gossamer::actors
