#include "gossamer/actors/collectives/master.hpp"

#include "gossamer/actors/collectives/ring.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

task<> master::run(worker& w) {
  if (w.life_of(w.id()) == 0u && !requests_.known().empty()) {
    requests_.begin_run();
    begin_run();
    for (const rank i : requests_.known())
      if (i >= w.workers()) // from a checkpoint of a run with more workers
        forget(i);
    w.save(); // for a next incarnation that comes before the first answer
  }
  w.serve(listen(w));
  w.serve(watch(w));
  co_return;
}

task<> master::listen(worker& w) {
  for (;;) {
    const auto asked = co_await w.receive_any(frame_kind::request);
    if (!requests_.knows(asked))
      forget(asked.source); // the worker may have died while this master was dead, so that no loss was reported
    hear(asked);
    if (requests_.accept(asked))
      take(w, asked);
    else
      withdraw(asked.source);
    settle(w);
  }
}

task<> master::watch(worker& w) {
  for (;;) {
    co_await w.change();
    for (rank i = 0; i < w.ranks(); ++i)
      if (!w.is_present(i)) {
        requests_.forget(i);
        forget(i);
      }
    settle(w);
  }
}

void master::settle(worker& w) {
  act(w);
  std::vector<std::pair<rank, answer>> answers;
  for (const auto& q : requests_.waiting())
    if (auto a = answer_to(w, q))
      answers.emplace_back(q.from, std::move(*a));
  w.save();
  for (auto& [who, a] : answers)
    requests_.answer(w, who, a.part, std::move(a.body));
}

vec master::own_part(const worker& w, const remembered_model& known, std::size_t size) {
  const auto part = segment{0, known.model.size()}.part(w.id() - w.master(0), w.masters());
  if (part.size != size)
    throw error(errc::bad_packet,
                fmt::format("a worker remembers a model of {} elements, whose part for master {} has {} instead of {}",
                            known.model.size(), w.id() - w.master(0), part.size, size),
                "all nodes of a run must be of the same version");
  return part.part_of(known.model);
}

parameter quorum(std::string meaning) {
  return {.key = "quorum",
          .kind = parameter::type::integer,
          .fallback = "0",
          .meaning = std::move(meaning),
          .min = 0,
          .max = 1e6};
}

parameter grace(std::string meaning) {
  return {.key = "grace",
          .kind = parameter::type::real,
          .fallback = "0",
          .meaning = std::move(meaning),
          .min = 0,
          .max = 1e6};
}

} // namespace gossamer::actors
