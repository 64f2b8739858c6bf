#include "gossamer/actors/collectives/packed_mean.hpp"

#include "gossamer/actors/collectives/ring.hpp"

namespace gossamer::actors {

namespace {

/// The outcome of a round.
struct packed_round {
  vec mean;
  vec sent;   ///< what the packets of this worker's own vector deliver
  vec lacked; ///< what that of the mean lacks in this worker's segment; 0 elsewhere
};

/// @param owed f, which the mean in this worker's segment takes up; null: errors are not wanted
task<std::optional<packed_round>> try_round(worker& w, member_group among, const vec v, const vec* owed,
                                            std::uint64_t t) {
  const auto& members = among.members;
  const ring here{w.id(), members};
  const auto M = here.size, m = here.position;
  const tag to_owner{frame_kind::reduce_segment, t, 0, among.view};
  const tag from_owner{frame_kind::gather_segment, t, 0, among.view};
  const auto segment_of = [&](std::size_t k) { return segment{0, v.size()}.part(k, M); };
  auto pool = v.pool();
  packed_round result{.mean = vec{pool.allocate(v.size() * sizeof(float))},
                      .sent = owed ? zeros_like(v) : vec{},
                      .lacked = owed ? zeros_like(v) : vec{}};

  std::vector<packet> parts(M);
  for (std::size_t k = 0; k < M; ++k) {
    parts[k] = w.encode(segment_of(k).part_of(v));
    if (owed)
      w.decode_into(segment_of(k).of(result.sent), parts[k]);
  }
  for (const auto k : here.others())
    w.send(members[k], to_owner, std::move(parts[k]));
  for (const auto k : here.others()) {
    auto received = co_await w.receive(members[k], to_owner);
    if (!received)
      co_return std::nullopt;
    parts[k] = std::move(received->body);
  }

  { // so that nothing of it is held while others are waited for
    vec mine = w.mean(parts, segment_of(m).size);
    parts.clear();
    if (owed)
      mine += segment_of(m).part_of(*owed);
    const auto own = w.encode(mine);
    for (const auto k : here.others())
      w.send(members[k], from_owner, own);
    w.decode_into(segment_of(m).of(result.mean), own);
    if (owed) {
      mine -= segment_of(m).part_of(result.mean);
      std::ranges::copy(mine.view(), segment_of(m).of(result.lacked).begin());
    }
  }
  for (const auto k : here.others()) {
    const auto received = co_await w.receive(members[k], from_owner);
    if (!received)
      co_return std::nullopt;
    w.decode_into(segment_of(k).of(result.mean), received->body);
  }
  co_return result;
}

} // namespace

task<std::optional<vec>> try_packed_mean(worker& w, member_group among, vec v, std::uint64_t t) {
  auto done = co_await try_round(w, std::move(among), std::move(v), nullptr, t);
  if (!done)
    co_return std::nullopt;
  co_return std::move(done->mean);
}

task<vec> packed_mean_of_all(worker& w, const vec& v, std::uint64_t t) {
  w.expect_repeated_rounds("packed_mean_of_all");
  for (;;) {
    auto mean = co_await try_packed_mean(w, members_of(w), v, t);
    if (mean)
      co_return std::move(*mean);
  }
}

void fed_back_mean::take_over(const vec& residual) {
  if (e_.empty())
    e_ = f_ = zeros_like(residual);
  hand_to_worker();
  e_ += residual;
}

void fed_back_mean::hand_to_worker() {
  e_ = residual();
  f_ *= 0;
}

task<vec> fed_back_mean::of_all(worker& w, const vec& v, std::uint64_t t) {
  w.expect_repeated_rounds("fed_back_mean::of_all");
  if (e_.empty())
    e_ = f_ = zeros_like(v);
  for (;;) {
    if (w.present().number != view_) {
      hand_to_worker();
      view_ = w.present().number;
      members_ = w.members().size();
    }
    const vec b = v + e_;
    if (members_ == 1) {
      e_ *= 0;
      co_return b;
    }
    const auto done = co_await try_round(w, members_of(w), b, &f_, t);
    if (!done)
      continue;
    e_ = b - done->sent;
    f_ = done->lacked;
    co_return done->mean;
  }
}

} // namespace gossamer::actors
