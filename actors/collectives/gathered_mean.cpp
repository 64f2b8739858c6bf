#include "gossamer/actors/collectives/gathered_mean.hpp"

#include "gossamer/actors/collectives/all_gather.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

/// Factors that shorten vectors to the median of their lengths.
std::vector<float> scales_of(const std::vector<vec>& all) {
  std::vector<float> scales(all.size(), 1);
  std::vector<double> lengths(all.size());
  std::ranges::transform(all, lengths.begin(), [](const vec& q) { return std::sqrt(sum_of_squares(q.view())); });
  auto ascending = lengths;
  const auto middle = ascending.begin() + static_cast<std::ptrdiff_t>((ascending.size() - 1) / 2);
  std::ranges::nth_element(ascending, middle);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (lengths[i] > *middle)
      scales[i] = static_cast<float>(*middle / lengths[i]);
  return scales;
}

void divide_by_senders(const std::vector<vec>& all, vec& sum) {
  std::vector<float> senders(sum.size());
  for (const auto& q : all)
    for (std::size_t k = 0; const float value : q.view())
      senders[k++] += value != 0 ? 1.0f : 0.0f;
  for (std::size_t k = 0; float& value : sum.mutate())
    value /= std::max(senders[k++], 1.0f);
}

} // namespace

task<vec> gathered_mean::of_all(worker& w, packet mine, std::uint64_t t) const {
  const auto packets = co_await all_gather(w, std::move(mine), way_, t);
  co_return of(w, packets);
}

vec gathered_mean::of(const worker& w, std::span<const packet> packets) const {
  if (!over_senders_ && !clips_)
    return w.mean(packets);
  std::vector<vec> all(packets.size());
  std::ranges::transform(packets, all.begin(), [&](const packet& p) { return w.decode(p); });
  vec sum = zeros_like(all.front());
  const auto scales = clips_ ? scales_of(all) : std::vector<float>(all.size(), 1);
  for (std::size_t i = 0; i < all.size(); ++i)
    sum += scales[i] * all[i];
  if (over_senders_)
    divide_by_senders(all, sum);
  else
    sum *= 1 / static_cast<float>(all.size());
  return sum;
}

std::vector<parameter> with_gathered_mean(std::vector<parameter> own) {
  own.push_back({.key = "aggregate",
                 .kind = parameter::type::choice,
                 .fallback = "workers",
                 .meaning = "whether an element is divided by the number of workers, or of those that have sent it",
                 .choices = {"workers", "senders"}});
  own.push_back({.key = "clip",
                 .kind = parameter::type::choice,
                 .fallback = "none",
                 .meaning = "whether messages are shortened to the median length of all",
                 .choices = {"none", "median"}});
  return with_ring_or_direct(std::move(own));
}

} // namespace gossamer::actors
