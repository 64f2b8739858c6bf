#include "gossamer/actors/collectives/ring_all_reduce.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

/// The k-th of `count` segments of a vector, counted round the ring.
struct segment {
  std::size_t begin, size;

  segment(std::size_t k, std::size_t count, std::size_t length)
      : begin(k % count * length / count), size((k % count + 1) * length / count - begin) {}

  std::span<const float> of(const vec& v) const { return v.view().subspan(begin, size); }
  std::span<float> of(vec& v) const { return v.mutate().subspan(begin, size); }
};

std::size_t position_of(rank i, std::span<const rank> members) {
  return static_cast<std::size_t>(std::ranges::lower_bound(members, i) - members.begin());
}

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
  const auto members = w.members(); // as long as the view: the attempt ends with it
  const auto number = w.present().number;
  const std::size_t M = members.size(), m = position_of(w.id(), members);
  const auto next = members[(m + 1) % M], previous = members[(m + M - 1) % M];
  const auto part_of = [&](std::size_t k) { return segment{k, M, v.size()}; };

  for (std::size_t s = 0; s + 1 < M; ++s) { // reduce-scatter
    const tag hop{frame_kind::reduce_segment, t, static_cast<std::uint32_t>(s), number};
    w.send(next, hop, pack(v, part_of(m + M - s)));
    const auto received = co_await w.receive(previous, hop);
    if (!received)
      co_return std::nullopt;
    const auto mine = part_of(m + 2 * M - s - 1);
    add(mine.of(v), unpack(received->body, mine, previous).view());
  }
  for (std::size_t s = 0; s + 1 < M; ++s) { // all-gather
    const tag hop{frame_kind::gather_segment, t, static_cast<std::uint32_t>(s), number};
    w.send(next, hop, pack(v, part_of(m + 1 + M - s)));
    const auto received = co_await w.receive(previous, hop);
    if (!received)
      co_return std::nullopt;
    const auto mine = part_of(m + M - s);
    std::ranges::copy(unpack(received->body, mine, previous).view(), mine.of(v).begin());
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
