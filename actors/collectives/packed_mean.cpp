#include "gossamer/actors/collectives/packed_mean.hpp"

#include "gossamer/actors/collectives/ring.hpp"

namespace gossamer::actors {

task<std::optional<vec>> try_packed_mean(worker& w, vec v, std::uint64_t t) {
  const std::vector<rank> members(w.members().begin(), w.members().end());
  const auto M = members.size(), m = ring{w.id(), members}.position;
  const tag to_owner{frame_kind::reduce_segment, t, 0, w.present().number};
  const tag from_owner{frame_kind::gather_segment, t, 0, w.present().number};
  const auto segment_of = [&](std::size_t k) { return segment{0, v.size()}.part(k, M); };
  auto pool = v.pool();

  std::vector<packet> parts(M);
  for (std::size_t k = 0; k < M; ++k) {
    auto part = w.encode(vec{pool, segment_of(k).of(v)});
    if (k == m)
      parts[m] = std::move(part);
    else
      w.send(members[k], to_owner, std::move(part));
  }
  for (std::size_t k = 0; k < M; ++k) {
    if (k == m)
      continue;
    auto received = co_await w.receive(members[k], to_owner);
    if (!received)
      co_return std::nullopt;
    parts[k] = std::move(received->body);
  }

  const auto own = w.encode(w.mean(parts, segment_of(m).size));
  vec mean{pool, v.size()};
  const auto store = [&](std::size_t k, const packet& p) {
    std::ranges::copy(w.decode(p, segment_of(k).size).view(), segment_of(k).of(mean).begin());
  };
  for (std::size_t k = 0; k < M; ++k)
    if (k != m)
      w.send(members[k], from_owner, own);
  store(m, own);
  for (std::size_t k = 0; k < M; ++k) {
    if (k == m)
      continue;
    const auto received = co_await w.receive(members[k], from_owner);
    if (!received)
      co_return std::nullopt;
    store(k, received->body);
  }
  co_return mean;
}

task<vec> packed_mean_of_all(worker& w, const vec& v, std::uint64_t t) {
  for (;;) {
    auto mean = co_await try_packed_mean(w, v, t);
    if (mean)
      co_return std::move(*mean);
  }
}

} // namespace gossamer::actors
