#include "gossamer/actors/collectives/ring_all_reduce.hpp"

#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

/// Segments travel uncompressed: partial sums in a lossy code would be coded again at every hop.
packet pack(const vec& v, segment s) {
  static const auto exact = compress::make_codec("identity");
  auto pool = v.pool();
  return exact->encode(vec{pool, s.of(v)}, random_stream{0, 0, purpose::quantise}, 0);
}

vec unpack(const packet& p, segment s, rank from) {
  auto values = compress::decode(p);
  if (values.size() != s.size)
    throw error(errc::bad_packet, "worker " + std::to_string(from) + " sent a segment of the wrong size");
  return values;
}

/// One attempt, among the members of the present view. Nothing when that view ended meanwhile.
task<std::optional<vec>> attempt(worker& w, vec v, std::uint64_t t) {
  const ring here{w.id(), w.members()}; // as long as the view: the attempt ends with it
  const auto number = w.present().number;
  const auto M = here.size, m = here.position;
  const segment all{0, v.size()};
  const auto part_of = [&](std::size_t k) { return all.part(k, M); };

  for (std::size_t s = 0; s + 1 < M; ++s) { // reduce-scatter
    const tag hop{frame_kind::reduce_segment, t, static_cast<std::uint32_t>(s), number};
    w.send(here.next, hop, pack(v, part_of(m + M - s)));
    const auto received = co_await w.receive(here.previous, hop);
    if (!received)
      co_return std::nullopt;
    const auto mine = part_of(m + 2 * M - s - 1);
    add(mine.of(v), unpack(received->body, mine, here.previous).view());
  }
  for (std::size_t s = 0; s + 1 < M; ++s) { // all-gather
    const tag hop{frame_kind::gather_segment, t, static_cast<std::uint32_t>(s), number};
    w.send(here.next, hop, pack(v, part_of(m + 1 + M - s)));
    const auto received = co_await w.receive(here.previous, hop);
    if (!received)
      co_return std::nullopt;
    const auto mine = part_of(m + M - s);
    std::ranges::copy(unpack(received->body, mine, here.previous).view(), mine.of(v).begin());
  }
  co_return v;
}

} // namespace

task<vec> ring_all_reduce(worker& w, const vec& v, std::uint64_t t) {
  for (;;) {
    auto sum = co_await attempt(w, v, t);
    if (sum)
      co_return std::move(*sum);
  }
}

} // namespace gossamer::actors
