#include "gossamer/compress/detail/largest.hpp"

#include "gossamer/compress/detail/checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace gossamer::compress::detail {
namespace {

/// The bits of a float without its sign: they order as the magnitudes do.
std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu; }

// A bucket is an eighth of an octave. Among a million normal numbers, the k-th largest shares its bucket with some
// hundreds to thousands, and only these are looked at closely.
constexpr int bucket_shift = 20;
using histogram = std::array<std::uint32_t, 1u << (31 - bucket_shift)>;

/// Counts elements 0, stride, 2 stride, ..., in several tables: runs of equal elements would otherwise wait for one
/// counter.
histogram count_buckets(std::span<const float> v, std::size_t stride) {
  std::array<histogram, 4> counts{};
  std::size_t i = 0;
  for (; i + counts.size() * stride <= v.size(); i += counts.size() * stride)
    for (std::size_t j = 0; j < counts.size(); ++j)
      ++counts[j][magnitude(v[i + j * stride]) >> bucket_shift];
  for (; i < v.size(); i += stride)
    ++counts[0][magnitude(v[i]) >> bucket_shift];
  for (std::size_t j = 1; j < counts.size(); ++j)
    std::ranges::transform(counts[0], counts[j], counts[0].begin(), std::plus{});
  return counts[0];
}

/// Returns the elements of at least this magnitude.
places at_least(buffer_pool pool, std::span<const float> from, std::uint32_t least) {
  places found{std::move(pool), from.size() + 1}; // each element is noted, and overwritten by the next unless it counts
  auto* next = found.data();
  constexpr std::size_t block = 16;
  for (std::size_t first = 0; first < from.size(); first += block) {
    const auto values = from.subspan(first, std::min(block, from.size() - first));
    std::uint32_t any = 0; // most blocks hold none: a loop without branches finds out
    for (const float x : values)
      any |= magnitude(x) >= least ? 1u : 0u;
    if (any == 0)
      continue;
    for (std::size_t i = 0; i < values.size(); ++i) {
      *next = static_cast<std::uint32_t>(first + i);
      next += magnitude(values[i]) >= least ? 1 : 0;
    }
  }
  found.truncate(static_cast<std::size_t>(next - found.begin()));
  return found;
}

/// Returns the elements from the bucket of the k-th largest on, or from a lower one. A sample tells which bucket that
/// probably is; if it was too high, all elements are counted.
places candidates(const buffer_pool& pool, std::span<const float> v, std::size_t k) {
  constexpr std::size_t few = 1 << 10, sampled = std::size_t{1} << 16, one_in = 64;
  if (v.size() < few) // than there are buckets
    return at_least(pool, v, 0);
  for (auto stride = v.size() < sampled ? std::size_t{1} : one_in;; stride = 1) {
    const auto expected = static_cast<double>(k) / one_in;
    const auto rank = stride == 1 ? k : static_cast<std::size_t>(expected + 3 * std::sqrt(expected)) + 2;
    const auto counts = count_buckets(v, stride);
    std::size_t bucket = counts.size();
    for (std::size_t above = 0; above < rank && bucket > 0;)
      above += counts[--bucket];
    auto found = at_least(pool, v, static_cast<std::uint32_t>(bucket << bucket_shift));
    if (found.size() >= k)
      return found;
  }
}

} // namespace

places largest(const buffer_pool& pool, std::span<const float> from, std::size_t k) {
  auto found = candidates(pool, from, k);
  places keys{pool, found.size()};
  auto* end = std::ranges::transform(found, keys.data(), [&](auto i) { return magnitude(from[i]); }).out;
  if (std::any_of(keys.begin(), keys.end(), [](auto key) { return key >= 0x7F800000u; }))
    finite_max_magnitude(from);
  if (k == 0)
    return found;
  std::nth_element(keys.data(), keys.data() + (k - 1), end, std::greater{});
  const auto threshold = keys[k - 1];
  auto equals = std::count(keys.begin(), keys.begin() + k, threshold);
  const auto drop = [&](auto i) {
    const auto m = magnitude(from[i]);
    return m < threshold || (m == threshold && equals-- <= 0);
  };
  found.truncate(
      static_cast<std::size_t>(std::remove_if(found.data(), found.data() + found.size(), drop) - found.data()));
  return found;
}

} // namespace gossamer::compress::detail
