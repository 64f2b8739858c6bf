#include "gossamer/actors/collectives/all_reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gossamer::actors {

namespace {

/// One of the slices into which segments are cut.
struct slice {
  std::size_t number = 0, count = 1;
};

/// The segments that travel round a ring.
struct division {
  segment whole;
  std::size_t parts;
  std::size_t grain;
  slice cut = {};

  segment operator[](std::size_t k) const noexcept {
    return whole.part(k, parts, grain).part(cut.number, cut.count, grain);
  }
  /// The segment whose last member, in reduce-scatter, is this one.
  segment complete_by(const ring& here) const noexcept { return (*this)[here.position + 1]; }
};

/// All members around the one that adds up what they send it of its segment.
struct star {
  std::size_t number, count; ///< of the segment, and of segments
  std::span<const rank> members;

  rank centre() const noexcept { return members[number]; }
};

/// One slice of one reduction among the members of a view. Its coroutines return false when that view has ended.
class passage {
public:
  /// @param first the label of its first frames
  /// @param around null: the slice goes along lanes
  passage(worker& w, reduction& r, tag first, slice cut, const star* around = nullptr)
      : worker_(w), reduction_(r), first_(first), cut_(cut), around_(around) {}

  task<bool> go(std::span<const ring> lanes) { return around_ ? go_through_centre() : go_along(lanes); }

private:
  /// Reduce-scatter along each lane, on the segment that the lane before has left, and all-gather back.
  task<bool> go_along(std::span<const ring> lanes) {
    std::vector<division> divisions;
    segment left{0, reduction_.size()};
    std::uint32_t weight = 1;
    slice cut = cut_;
    for (const auto& lane : lanes) {
      divisions.push_back({left, lane.size, reduction_.grain(), std::exchange(cut, {})});
      const bool summed = co_await reduce_scatter(lane, divisions.back(), weight);
      if (!summed)
        co_return false;
      left = divisions.back().complete_by(lane);
      weight *= static_cast<std::uint32_t>(lane.size);
    }
    reduction_.complete(left);
    for (auto k = lanes.size(); k-- > 0;) {
      const bool known = co_await all_gather(lanes[k], divisions[k]);
      if (!known)
        co_return false;
    }
    co_return true;
  }

  task<bool> go_through_centre() {
    const auto whole = division{{0, reduction_.size()}, around_->count, reduction_.grain(), cut_}[around_->number];
    load(whole, 1);
    return worker_.id() == around_->centre() ? collect(whole) : hand_in(whole, around_->centre());
  }

  task<bool> collect(segment whole) {
    const auto members = around_->members;
    const auto others = ring{worker_.id(), members}.others();
    std::uint32_t weight = 1;
    for (const auto k : others) {
      const contributors of{1, weight++};
      reduction_.expect(whole, of);
      auto received = co_await worker_.receive(members[k], label(frame_kind::reduce_segment, 1));
      if (!received)
        co_return false;
      reduction_.merge(whole, std::move(received->body), of);
    }
    reduction_.complete(whole);
    const auto result = reduction_.result(whole);
    for (const auto k : others)
      worker_.send(members[k], label(frame_kind::gather_segment, 0), result);
    co_return true;
  }

  task<bool> hand_in(segment whole, rank centre) {
    worker_.send(centre, label(frame_kind::reduce_segment, 1), reduction_.partial(whole, 1));
    const auto received = co_await worker_.receive(centre, label(frame_kind::gather_segment, 0));
    if (!received)
      co_return false;
    reduction_.store(whole, received->body);
    co_return true;
  }

  /// @param weight number of workers that each member's value stands for
  task<bool> reduce_scatter(ring here, division parts, std::uint32_t weight) {
    const auto M = here.size, m = here.position;
    load(parts[m], weight);
    for (std::size_t s = 0; s + 1 < M; ++s) {
      const contributors of{static_cast<std::uint32_t>(s + 1) * weight, weight};
      const auto next = parts[m + 2 * M - s - 1];
      const auto hop = label(frame_kind::reduce_segment, of.received);
      worker_.send(here.next, hop, reduction_.partial(parts[m + M - s], of.received));
      load(next, weight);
      reduction_.expect(next, of);
      auto received = co_await worker_.receive(here.previous, hop);
      if (!received)
        co_return false;
      reduction_.merge(next, std::move(received->body), of);
    }
    co_return true;
  }

  task<bool> all_gather(ring here, division parts) {
    const auto M = here.size, m = here.position;
    packet carried = reduction_.result(parts.complete_by(here));
    for (std::size_t s = 0; s + 1 < M; ++s) {
      const auto hop = label(frame_kind::gather_segment, static_cast<std::uint32_t>(s));
      worker_.send(here.next, hop, carried);
      const auto received = co_await worker_.receive(here.previous, hop);
      if (!received)
        co_return false;
      reduction_.store(parts[m + M - s], received->body);
      carried = received->body;
    }
    co_return true;
  }

  /// Loads the worker's own part; values that already stand for several workers stay.
  void load(segment s, std::uint32_t weight) {
    if (weight == 1)
      reduction_.load(s);
  }

  tag label(frame_kind kind, std::uint32_t place) const {
    const auto number = place * cut_.count + cut_.number;
    return {kind, first_.step, first_.part + static_cast<std::uint32_t>(number), first_.view};
  }

  worker& worker_;
  reduction& reduction_;
  tag first_;
  slice cut_;
  const star* around_;
};

/// Number of slices, each of about the length that the reduction asks for.
std::size_t slices_of(const reduction& r, std::size_t parts) {
  constexpr std::size_t most = 16; // with 2^20 workers the places of a reduction's frames are below 2^24
  return std::clamp(r.size() / parts / r.slice_elements(), std::size_t{1}, most);
}

/// Number of members in the lanes of each direction. Their product is `members`.
std::vector<std::size_t> directions(std::size_t members, route way) {
  if (way == route::halving)
    return prime_factors(members);
  const auto [rows, columns] = torus_shape(members, static_cast<std::size_t>(way));
  return {columns, rows};
}

/// This worker's lanes, one in each direction.
std::vector<ring> lanes(const worker& w, std::span<const rank> members, route way) {
  const auto rows = static_cast<std::size_t>(way);
  if (way != route::halving && rows > 1 && members.size() == w.workers() && members.size() % rows != 0)
    throw error(errc::usage, fmt::format("{} workers do not make a torus of {} rows", members.size(), rows),
                "choose rows that divides --workers, or rows=0 for the most square torus");
  const auto place = static_cast<std::size_t>(std::ranges::lower_bound(members, w.id()) - members.begin());
  std::vector<ring> result;
  std::size_t stride = 1; // from one member of a lane to the next
  for (const auto size : directions(members.size(), way)) {
    std::vector<rank> lane;
    for (std::size_t k = 0; k < size; ++k)
      lane.push_back(members[place - place / stride % size * stride + k * stride]);
    result.emplace_back(w.id(), lane);
    stride *= size;
  }
  return result;
}

/// The stars of the members' segments, if the way is one of stars. A member begins with that of the member before it,
/// and each centre with the member behind it, so that what is sent at a time goes to different members. Its own comes
/// last.
std::vector<star> stars(const worker& w, std::span<const rank> members, route way) {
  if (way == route::star)
    return {{0, 1, members}};
  if (way != route::direct)
    return {};
  const ring here{w.id(), members};
  std::vector<star> result;
  for (const auto k : here.others())
    result.push_back({k, here.size, members});
  std::ranges::reverse(result);
  result.push_back({here.position, here.size, members});
  return result;
}

} // namespace

std::pair<std::size_t, std::size_t> torus_shape(std::size_t members, std::size_t rows) noexcept {
  if (rows == 0 || members % rows != 0) {
    rows = 1;
    for (std::size_t r = 2; r * r <= members; ++r)
      if (members % r == 0)
        rows = r;
  }
  return {rows, members / rows};
}

std::vector<std::size_t> prime_factors(std::size_t n) {
  std::vector<std::size_t> result;
  for (std::size_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      result.push_back(p);
  if (n > 1 || result.empty())
    result.push_back(n);
  return result;
}

task<bool> try_all_reduce(worker& w, member_group among, std::span<reduction* const> together, route way,
                          std::uint64_t t, std::uint32_t lane) {
  const auto around = stars(w, among.members, way);
  const auto along = around.empty() ? lanes(w, among.members, way) : std::vector<ring>{};
  for (auto* r : together)
    r->begin(static_cast<std::uint32_t>(among.members.size()));
  constexpr std::uint32_t places = 1u << 24; // more than one reduction has
  tag first{frame_kind::reduce_segment, t, lane * places, among.view};
  std::vector<passage> passages;
  for (auto* r : together) {
    const auto slices = slices_of(*r, around.empty() ? along.front().size : around.size());
    for (std::size_t k = 0; k < slices; ++k) {
      if (around.empty())
        passages.emplace_back(w, *r, first, slice{k, slices});
      for (const auto& s : around)
        passages.emplace_back(w, *r, first, slice{k, slices}, &s);
    }
    first.part += places;
  }
  std::vector<task<bool>> under_way;
  for (auto& p : passages) {
    under_way.push_back(p.go(along));
    under_way.back().start();
  }
  bool done = true;
  // A member's own star is awaited first, since it alone may fail here, where others wait in vain for its result.
  for (auto k = under_way.size(); k-- > 0;) {
    auto& going = under_way[k];
    const bool through = co_await going;
    done = done && through;
  }
  co_return done;
}

task<> all_reduce(worker& w, std::span<reduction* const> together, route way, std::uint64_t t) {
  w.expect_repeated_rounds("all_reduce");
  for (;;) {
    const bool done = co_await try_all_reduce(w, members_of(w), together, way, t);
    if (done)
      co_return;
  }
}

task<> all_reduce(worker& w, reduction& r, route way, std::uint64_t t) {
  reduction* const alone[] = {&r};
  co_await all_reduce(w, alone, way, t);
}

} // namespace gossamer::actors
