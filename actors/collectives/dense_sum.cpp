#include "gossamer/actors/collectives/dense_sum.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors {

void dense_sum::begin(std::uint32_t) {
  pieces_.clear();
  complete_.clear();
  sum_ = vec{own_.pool().allocate(size() * sizeof(float))};
}

vec dense_sum::value(segment s) const {
  const auto found = std::find_if(pieces_.rbegin(), pieces_.rend(), [s](const piece& p) { return p.where.holds(s); });
  return found == pieces_.rend() ? s.part_of(own_) : found->sum.part(s.begin - found->where.begin, s.size);
}

std::optional<vec> dense_sum::take_piece(segment s) {
  const auto found = std::find_if(pieces_.rbegin(), pieces_.rend(), [s](const piece& p) { return p.where == s; });
  if (found == pieces_.rend())
    return std::nullopt;
  auto sum = std::move(found->sum);
  pieces_.erase(std::next(found).base());
  return sum;
}

packet dense_sum::partial(segment s, std::uint32_t) {
  const auto whole = take_piece(s);
  return worker_.encode_exactly(whole ? *whole : value(s));
}

void dense_sum::merge(segment s, packet received, contributors) {
  vec sum = worker_.decode(received, s.size);
  received = {}; // leaves `sum` as the only owner of the elements
  add(sum.mutate(), value(s).view());
  std::erase_if(pieces_, [s](const piece& p) { return p.where == s; });
  pieces_.push_back({s, std::move(sum)});
}

void dense_sum::complete(segment s) {
  std::ranges::copy(value(s).view(), s.of(sum_).begin());
  if (auto whole = take_piece(s))
    complete_.push_back({s, *std::move(whole)});
}

packet dense_sum::result(segment s) {
  const auto found = std::ranges::find(complete_, s, &piece::where);
  if (found != complete_.end())
    return worker_.encode_exactly(found->sum);
  auto pool = own_.pool();
  return worker_.encode_exactly(vec{pool, s.of(sum())}); // the rest of the sum is still to be written
}

void dense_sum::store(segment s, const packet& received) { worker_.decode_into(s.of(sum_), received); }

namespace {

task<std::optional<vec>> try_sum(worker& w, member_group among, vec v, route way, std::uint64_t t,
                                 std::uint32_t lane = 0) {
  if (among.members.size() == 1)
    co_return v; // without a copy
  dense_sum sum{w, v};
  reduction* const alone[] = {&sum};
  const bool done = co_await try_all_reduce(w, std::move(among), alone, way, t, lane);
  if (!done)
    co_return std::nullopt;
  co_return sum.sum();
}

void divide(vec& sum, std::size_t members) {
  if (members > 1)
    sum *= 1.0f / static_cast<float>(members);
}

} // namespace

task<vec> sum_of_all(worker& w, const vec& v, route way, std::uint64_t t) {
  w.expect_repeated_rounds("sum_of_all");
  for (;;) {
    auto sum = co_await try_sum(w, members_of(w), v, way, t);
    if (sum)
      co_return *std::move(sum);
  }
}

task<vec> mean_of_all(worker& w, const vec& v, route way, std::uint64_t t) {
  vec mean = co_await sum_of_all(w, v, way, t);
  divide(mean, w.members().size());
  co_return mean;
}

task<std::optional<vec>> try_mean(worker& w, member_group among, vec v, route way, std::uint64_t t,
                                  std::uint32_t lane) {
  const auto size = among.members.size();
  auto mean = co_await try_sum(w, std::move(among), std::move(v), way, t, lane);
  if (mean)
    divide(*mean, size);
  co_return mean;
}

} // namespace gossamer::actors
