#include "gossamer/actors/collectives/psync.hpp"

#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"

namespace gossamer::actors {

namespace {

/// The kept elements of all parts, one after the other.
vec concatenate(const std::vector<psync_part>& parts, buffer_pool pool) {
  std::size_t size = 0;
  for (const auto& p : parts)
    size += p.values.size();
  vec all{pool, size};
  auto out = all.mutate().begin();
  for (const auto& p : parts)
    out = std::ranges::copy(p.values.view(), out).out;
  return all;
}

/// The packets of all members, for each part with a message.
using messages = std::vector<std::vector<packet>>;

task<std::optional<messages>> try_gather(worker& w, const std::vector<psync_part>& parts, route way, std::uint64_t t) {
  messages all(parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].message)
      continue;
    auto gathered = co_await try_all_gather(w, *parts[k].message, way, t, static_cast<std::uint32_t>(k));
    if (!gathered)
      co_return std::nullopt;
    all[k] = std::move(*gathered);
  }
  co_return all;
}

} // namespace

psync_part part_of(worker& w, const vec& v, const compress::codec* c, purpose shared, std::uint64_t t) {
  psync_part part{.residual = v};
  if (!c)
    return part;
  if (!c->can().linear) {
    part.message = w.encode(*c, v);
    part.residual -= w.decode(*part.message, v.size());
    return part;
  }
  part.kept = c->select(v.size(), w.shared_random(shared), t);
  part.values = w.coder().extract(*part.kept, part.residual);
  return part;
}

task<> add_means(worker& w, vec& x, std::vector<psync_part> parts, route way, std::uint64_t t) {
  const bool summing = std::ranges::any_of(parts, [](const auto& p) { return p.kept.has_value(); });
  const vec kept = concatenate(parts, x.pool());
  vec sums;
  std::optional<messages> all;
  while (!all) { // after a gathering that is cut short, other workers may still be in the all-reduce before it
    if (summing) // also without kept elements: all workers run the same round
      sums = co_await sum_of_all(w, kept, way, t);
    all = co_await try_gather(w, parts, way, t);
  }
  const float share = 1.0f / static_cast<float>(w.members().size());
  std::size_t begin = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].message)
      x += w.mean((*all)[k]);
    if (!parts[k].kept)
      continue;
    w.coder().scatter_add(x, share, sums, begin, *parts[k].kept);
    begin += parts[k].kept->size();
  }
}

} // namespace gossamer::actors
