#include "gossamer/actors/collectives/ring_all_gather.hpp"

#include "gossamer/actors/collectives/ring.hpp"

namespace gossamer::actors {

task<std::optional<std::vector<packet>>> try_ring_all_gather(worker& w, packet mine, std::uint64_t t,
                                                             std::uint32_t lane) {
  const ring here{w.id(), w.members()};
  const auto number = w.present().number;
  const auto M = here.size, m = here.position;
  std::vector<packet> all(M);
  all[m] = std::move(mine);
  for (std::size_t s = 0; s + 1 < M; ++s) {
    const tag hop{frame_kind::gather_packet, t, static_cast<std::uint32_t>(lane * M + s), number};
    w.send(here.next, hop, all[(m + M - s) % M]);
    auto received = co_await w.receive(here.previous, hop);
    if (!received)
      co_return std::nullopt;
    all[(m + 2 * M - s - 1) % M] = std::move(received->body);
  }
  co_return all;
}

task<std::vector<packet>> ring_all_gather(worker& w, packet mine, std::uint64_t t) {
  for (;;) {
    auto all = co_await try_ring_all_gather(w, mine, t);
    if (all)
      co_return std::move(*all);
  }
}

} // namespace gossamer::actors
