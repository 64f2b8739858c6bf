#include "gossamer/compress/detail/largest.hpp"

#include <algorithm>
#include <bit>

namespace gossamer::compress::detail {
namespace {

std::uint32_t key_of(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu; }

/// Returns a bound of keys that at least k elements reach, and seldom many more. Element i belongs to group i mod
/// `groups`: where k groups have a maximum from the bound on, k elements do.
std::uint32_t bound(const buffer_pool& pool, std::span<const float> from, std::size_t k) {
  constexpr std::size_t fewest_groups = 256;
  auto groups = std::bit_ceil(std::max(4 * k, fewest_groups));
  while (groups >= from.size() && groups / 2 >= std::max(k, fewest_groups))
    groups /= 2;
  if (groups >= from.size())
    return 0;
  places storage{pool, groups};
  const std::span maxima{storage.data(), groups};
  find_maxima(from, maxima);
  return cut(maxima, k, k + k / 4);
}

} // namespace

places largest(const buffer_pool& pool, std::span<const float> from, std::size_t k) {
  places result{pool, from.size()};
  const std::span found{result.data(), keep_at_least(from, bound(pool, from, k), result.data())};
  places storage{pool, found.size()};
  const std::span keys{storage.data(), found.size()};
  std::ranges::transform(found, keys.begin(), [&](auto i) { return key_of(from[i]); });
  const auto least = cut(keys, k, k);
  auto equals = k;
  for (const auto key : keys)
    equals -= key > least ? 1 : 0;
  auto* next = found.data();
  for (std::size_t j = 0; j < found.size(); ++j) { // each is noted, and overwritten by the next unless it counts
    const std::size_t above = keys[j] > least ? 1 : 0, equal = (keys[j] == least ? 1 : 0) & (equals > 0 ? 1 : 0);
    *next = found[j];
    next += above | equal;
    equals -= equal;
  }
  result.truncate(k);
  return result;
}

} // namespace gossamer::compress::detail
