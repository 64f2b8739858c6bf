#include "gossamer/actors/collectives/all_gather.hpp"

#include "gossamer/actors/collectives/ring.hpp"

#include <utility>

namespace gossamer::actors {

namespace {

/// Returns false if the view ends first. @param first the label of the first hop
task<bool> go_round(worker& w, const ring& here, std::vector<packet>& all, tag first) {
  const auto M = here.size, m = here.position;
  for (std::size_t s = 0; s + 1 < M; ++s) {
    tag hop = first;
    hop.part += static_cast<std::uint32_t>(s);
    w.send(here.next, hop, all[(m + M - s) % M]);
    auto received = co_await w.receive(here.previous, hop);
    if (!received)
      co_return false;
    all[(m + 2 * M - s - 1) % M] = std::move(received->body);
  }
  co_return true;
}

task<bool> send_to_all(worker& w, const ring& here, std::vector<packet>& all, tag label) {
  const std::vector members(w.members().begin(), w.members().end());
  for (const auto k : here.others())
    w.send(members[k], label, all[here.position]);
  for (const auto k : here.others()) {
    auto received = co_await w.receive(members[k], label);
    if (!received)
      co_return false;
    all[k] = std::move(received->body);
  }
  co_return true;
}

} // namespace

task<std::optional<std::vector<packet>>> try_all_gather(worker& w, packet mine, route way, std::uint64_t t,
                                                        std::uint32_t lane) {
  const ring here{w.id(), w.members()};
  std::vector<packet> all(here.size);
  all[here.position] = std::move(mine);
  const tag first{frame_kind::gather_packet, t, static_cast<std::uint32_t>(lane * here.size), w.present().number};
  auto gathering = way == route::direct ? send_to_all(w, here, all, first) : go_round(w, here, all, first);
  const bool done = co_await gathering;
  if (!done)
    co_return std::nullopt;
  co_return all;
}

task<std::vector<packet>> all_gather(worker& w, packet mine, route way, std::uint64_t t) {
  w.expect_repeated_rounds("all_gather");
  for (;;) {
    auto all = co_await try_all_gather(w, mine, way, t);
    if (all)
      co_return std::move(*all);
  }
}

} // namespace gossamer::actors
