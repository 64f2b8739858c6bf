#include "gossamer/topology/islands.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace gossamer::topology {

islands::islands(std::span<const std::size_t> sizes) : ends_(sizes.size()) {
  std::partial_sum(sizes.begin(), sizes.end(), ends_.begin());
}

std::size_t islands::of(rank i) const noexcept {
  if (ends_.empty())
    return i;
  if (i >= ends_.back())
    return i % ends_.size();
  return static_cast<std::size_t>(std::ranges::upper_bound(ends_, std::size_t{i}) - ends_.begin());
}

std::vector<rank> islands::heads(std::span<const rank> members) const {
  std::vector<rank> result{members.begin(), members.end()};
  std::vector<bool> has_head(count());
  if (count() > 0)
    std::erase_if(result, [&](rank i) {
      const bool later = has_head[of(i)];
      has_head[of(i)] = true;
      return later;
    });
  return result;
}

std::vector<std::size_t> even_sizes(std::size_t workers, std::size_t count) {
  std::vector<std::size_t> result(count);
  for (std::size_t k = 0; k < count; ++k)
    result[k] = workers * (k + 1) / count - workers * k / count;
  return result;
}

islands parse_islands(std::string_view text, std::size_t workers) {
  std::vector<std::size_t> sizes;
  for (const auto& item : gossamer::split(text, ','))
    sizes.push_back(static_cast<std::size_t>(parse_integer("--islands", item, 1, std::int64_t{max_workers})));
  const auto remedy = fmt::format("give their number, at most {}, or the number of workers of each", workers);
  if (const auto count = sizes.front(); sizes.size() == 1) {
    if (count > workers)
      throw error(errc::usage, fmt::format("--islands is {}, but there are {} workers", count, workers), remedy);
    return islands{even_sizes(workers, count)};
  }
  const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  if (sum != workers)
    throw error(errc::usage, fmt::format("--islands is {}: {} workers, but there are {}", text, sum, workers), remedy);
  return islands{sizes};
}

std::string islands_text(std::span<const std::size_t> of) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (i == 0 || of[i] != of[i - 1])
      sizes.push_back(0);
    ++sizes.back();
  }
  return sizes.size() == 1 ? "1" : fmt::format("{}", fmt::join(sizes, ","));
}

} // namespace gossamer::topology
