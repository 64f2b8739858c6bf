#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/kept_count.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t top_k_wire_number = 10;

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
places at_least(const vec& v, std::uint32_t least) {
  places found{v.pool(), v.size() + 1}; // each element is noted, and overwritten by the next unless it counts
  const auto from = v.view();
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
places candidates(const vec& v, std::size_t k) {
  constexpr std::size_t sampled = std::size_t{1} << 16, one_in = 64;
  for (auto stride = v.size() < sampled ? std::size_t{1} : one_in;; stride = 1) {
    const auto expected = static_cast<double>(k) / one_in;
    const auto rank = stride == 1 ? k : static_cast<std::size_t>(expected + 3 * std::sqrt(expected)) + 2;
    const auto counts = count_buckets(v.view(), stride);
    std::size_t bucket = counts.size();
    for (std::size_t above = 0; above < rank && bucket > 0;)
      above += counts[--bucket];
    auto found = at_least(v, static_cast<std::uint32_t>(bucket << bucket_shift));
    if (found.size() >= k)
      return found;
  }
}

/// Returns the k elements of largest magnitude; lower indices come first among equals. O(size). Requires k <= size, and
/// k > 0 unless v is empty.
places largest(const vec& v, std::size_t k) {
  auto found = candidates(v, k);
  const auto from = v.view();
  places keys{v.pool(), found.size()};
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

class top_k final : public codec {
public:
  explicit top_k(kept_count kept) : kept_(kept) {}

  capabilities can() const override { return {.deterministic = true}; }

  packet encode(const vec& v, const random_stream&, std::uint64_t) const override {
    return values_with_places(top_k_wire_number, v, largest(v, kept_.of(v.size())), 1);
  }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(top_k_wire_number, largest_choice{kept_});
  }

  std::uint64_t bits(std::size_t elements) const override {
    return kept_.of(elements) * static_cast<std::uint64_t>(32 + place_bits(elements));
  }

  double relative_error(std::size_t elements) const override { return 1 - kept_.share(elements); }

private:
  kept_count kept_;
};

} // namespace

codec_entry top_k_codec() {
  return {
      .about = {.name = "top-k",
                .summary = "sends the k elements of largest magnitude",
                .maths =
                    R"(C(v)_i = v_i for the k largest |v_i|, those of lower index first among equals; 0 for all others.
k = min(d, max(1, floor(fraction d + 1/2))) unless it is given.
|C(v) - v|^2 <= (1 - k/d) |v|^2.)",
                .reference = "Stich, Cordonnier, Jaggi: Sparsified SGD with memory, NeurIPS 2018",
                .cost = "k (32 + ceil(log2 d)) bits; two passes over v and a selection among the few elements that lie "
                        "within an eighth of an octave of the k-th",
                .parameters = kept_count::parameters()},
      .wire_number = top_k_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<top_k>(kept_count{given});
      },
      .decode = decode_with_places,
      .contents = contents_with_places,
      .examples = {"top-k:k=5"},
  };
}

} // namespace gossamer::compress::detail
