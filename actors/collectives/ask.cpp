#include "gossamer/actors/collectives/ask.hpp"

namespace gossamer::actors {

namespace {

/// @param asked incarnation of the master that got the question; a later one does not have it
task<frame> answer_to(worker& w, rank master, tag question, packet body, std::optional<std::uint32_t> asked) {
  const tag wanted{frame_kind::reply, question.step, any_part};
  for (;;) {
    while (!w.is_present(master))
      co_await w.change();
    if (w.life_of(master) != asked) {
      asked = w.life_of(master);
      w.send(master, question, body);
    }
    auto answer = co_await w.receive(master, wanted);
    if (answer)
      co_return std::move(*answer);
  }
}

} // namespace

std::uint64_t question_number(const worker& w, std::uint64_t count) {
  return std::uint64_t{w.life_of_draws()} << bits_of_count | count;
}

task<frame> ask(worker& w, rank master, std::uint64_t count, std::uint32_t part, packet body) {
  const tag question{frame_kind::request, question_number(w, count), part};
  w.send(master, question, body);
  return answer_to(w, master, question, std::move(body), w.life_of(master));
}

task<std::vector<frame>> ask_all(worker& w, std::uint64_t count, std::uint32_t part, std::vector<packet> bodies) {
  std::vector<task<frame>> pending;
  pending.reserve(bodies.size());
  for (std::size_t k = 0; k < bodies.size(); ++k)
    pending.push_back(ask(w, w.master(k), count, part, std::move(bodies[k])));
  for (auto& p : pending) // each notices the death of its master, whichever master answers first
    p.start();
  std::vector<frame> answers;
  answers.reserve(pending.size());
  for (auto& p : pending)
    answers.push_back(co_await p);
  co_return answers;
}

} // namespace gossamer::actors
