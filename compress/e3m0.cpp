// Floats of four bits, of which three are the exponent: powers of two from a scale down.
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/uneven_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t e3m0_wire_number = 18;
constexpr int e3m0_code_bits = 4, least_exponent = -6;
constexpr std::size_t e3m0_levels = 15, scale_bytes = sizeof(float);

/// -1, -1/2, ..., -2^-6, 0, 2^-6, ..., 1: code k stands for the k-th of them, times the scale.
const uneven_levels& powers_of_two() {
  static const uneven_levels levels{[] {
    std::vector<float> values(e3m0_levels);
    for (int e = least_exponent; e <= 0; ++e) {
      const auto place = static_cast<std::size_t>(e - least_exponent + 1);
      values[e3m0_levels / 2 + place] = std::ldexp(1.0f, e);
      values[e3m0_levels / 2 - place] = -std::ldexp(1.0f, e);
    }
    return values;
  }()};
  return levels;
}

/// Elements that share a scale: `bucket` of them, or all when it is 0.
struct bucket_layout {
  std::uint64_t bucket;

  std::uint64_t bucket_of(std::uint64_t elements) const { return bucket == 0 ? elements : bucket; }
  std::uint64_t scales(std::uint64_t elements) const {
    return elements == 0 ? 0 : chunks_of(elements, bucket_of(elements));
  }
  std::uint64_t size_in_bits(std::uint64_t elements) const {
    return 8 * scale_bytes * scales(elements) + e3m0_code_bits * elements;
  }
};

/// The scale for elements of at most this magnitude; 0 when the least level would lose precision.
float sendable_scale(float largest) { return largest < std::ldexp(smallest_normal, -least_exponent) ? 0 : largest; }

bucket_layout layout_of(const packet& p) {
  if (p.parameter != 0 || p.elements > packet_most_elements)
    throw bad_packet(fmt::format("packet of codec e3m0 has parameter {} and {} elements; allowed: 0 and up to {}",
                                 p.parameter, p.elements, packet_most_elements));
  expect_recipe(p, p.recipe.empty() ? 0 : 1);
  if (!p.recipe.empty() && (p.recipe[0] == 0 || p.recipe[0] > packet_most_elements))
    throw bad_packet(fmt::format("packet of codec e3m0 has buckets of {} elements; allowed: 1 to {}", p.recipe[0],
                                 packet_most_elements));
  return {p.recipe.empty() ? 0 : p.recipe[0]};
}

float read_scale(const std::byte* from) {
  float scale;
  std::memcpy(&scale, from, sizeof scale);
  if (!std::isfinite(scale) || std::signbit(scale) || scale != sendable_scale(scale))
    throw bad_packet(fmt::format("packet of codec e3m0 has the scale {}", scale));
  return scale;
}

vec decode_e3m0(const packet& p) {
  const auto layout = layout_of(p);
  expect_bits(p, layout.size_in_bits(p.elements));
  const auto* scales = p.payload.data();
  const auto* packed = scales + scale_bytes * layout.scales(p.elements);
  vec v{p.payload.pool().allocate(p.elements * sizeof(float))};
  const auto elements = v.overwrite();
  const auto& levels = powers_of_two().values;
  level_codes codes;
  for (std::size_t begin = 0; begin < elements.size(); begin += level_block) {
    const auto end = std::min(begin + level_block, elements.size());
    unpack_levels(e3m0_code_bits, packed + code_bytes(e3m0_code_bits, begin), end - begin, codes);
    for_each_part(begin, end, layout.bucket_of(p.elements), [&](std::size_t b, std::size_t first, std::size_t count) {
      const float scale = read_scale(scales + scale_bytes * b);
      std::array<float, e3m0_levels + 1> values{};
      std::ranges::transform(levels, values.begin(), [scale](float level) { return level * scale; });
      for (std::size_t i = first; i < first + count; ++i) {
        const auto code = std::to_integer<std::size_t>(codes.bytes[i - begin]);
        if (code >= e3m0_levels)
          throw bad_packet(fmt::format("packet of codec e3m0 holds the code {}", code));
        elements[i] = values[code];
      }
    });
  }
  return v;
}

class e3m0 final : public codec {
public:
  e3m0(bucket_layout layout, rounding how) : layout_(layout), how_(how) {}

  capabilities can() const override {
    const bool nearest = how_ == rounding::nearest;
    return {.unbiased = !nearest, .deterministic = nearest};
  }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    finite_max_magnitude(v.view());
    packet p{.codec = e3m0_wire_number,
             .elements = v.size(),
             .bits = bits(v.size()),
             .payload = v.pool().allocate(whole_bytes(bits(v.size())))};
    if (layout_.bucket != 0)
      p.recipe = {layout_.bucket};
    auto* scales = p.payload.data();
    const auto bucket = layout_.bucket_of(v.size());
    for_each_part(0, v.size(), bucket, [&](std::size_t b, std::size_t first, std::size_t count) {
      const float scale = sendable_scale(max_magnitude(v.view().subspan(first, count)));
      std::memcpy(scales + scale_bytes * b, &scale, sizeof scale);
    });
    const rounding_bits draw{how_, random, step};
    auto* out = scales + scale_bytes * layout_.scales(v.size());
    for (std::size_t begin = 0; begin < v.size(); begin += level_block)
      encode_block(v.view(), begin, bucket, scales, draw, out + code_bytes(e3m0_code_bits, begin));
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return layout_.size_in_bits(elements); }

  /// Between a and 2 a, (v - a)(2 a - v) is at most v^2 / 8. Below the least level l, v (l - v) is at most l^2 / 4, and
  /// one element of each bucket is as large as its scale, 64 l. Nearest rounding errs by the distance of the nearer
  /// level, at most v / 3 there.
  double relative_error(std::size_t elements) const override {
    const auto together = static_cast<double>(std::min<std::uint64_t>(layout_.bucket_of(elements), elements));
    const double small = std::max(together - 1, 0.0) * 0x1p-14;
    return (how_ == rounding::nearest ? 1.0 / 9 : 1.0 / 8) + small;
  }

private:
  void encode_block(std::span<const float> v, std::size_t begin, std::size_t bucket, const std::byte* scales,
                    const rounding_bits& draw, std::byte* out) const {
    const auto end = std::min(begin + level_block, v.size());
    level_bits drawn;
    draw.fill(begin, end - begin, drawn);
    std::array<float, level_block> shares; // of the scale
    for_each_part(begin, end, bucket, [&](std::size_t b, std::size_t first, std::size_t count) {
      float scale;
      std::memcpy(&scale, scales + scale_bytes * b, sizeof scale);
      for (std::size_t i = first; i < first + count; ++i)
        shares[i - begin] = scale == 0 ? 0 : v[i] / scale;
    });
    level_codes codes;
    round_to_levels(powers_of_two(), std::span{shares}.first(end - begin), drawn.words, codes);
    pack_levels(e3m0_code_bits, codes, end - begin, out);
  }

  bucket_layout layout_;
  rounding how_;
};

constexpr auto e3m0_maths =
    R"(s = max |v_i|; levels 0 and +-2^e s, e = -6 .. 0, in ascending order V_0 = -s, ..., V_7 = 0, ..., V_14 = s.
V_k <= v_i < V_(k+1) goes up to V_(k+1) with probability (v_i - V_k) / (V_(k+1) - V_k), else down to V_k.
Up if u < that, of v_i / s and the levels without s.
u = (word >> 8) * 2^-24, where word i of the step belongs to element i; u = 1/2 when rounding=nearest, which is biased.
With bucket=n, every n elements (and what is left) have a scale of their own.
E |C(v) - v|^2 <= (1/8 + (n - 1) 2^-14) |v|^2, 1/9 when rounding=nearest. When s / 64 would be below 2^-126 all
elements become 0.
For gradients whose magnitudes differ by orders, under one scale; with a scale for each 128, min-max:bits=4,chunk=128
errs less. A code for zero and the scale are ours: the reference does not print them.)";

} // namespace

codec_entry e3m0_codec() {
  return {
      .about = {.name = "e3m0",
                .summary = "floats of four bits: stochastic rounding to powers of two, down to 1/64 of the greatest",
                .maths = e3m0_maths,
                .reference = "Douillard and others: Streaming DiLoCo with overlapping communication: towards a "
                             "distributed free lunch, 2025, section 2.3",
                .cost = "32 buckets + 4 d bits; three passes over v and one random word an element (none when nearest)",
                .parameters = {{.key = "bucket",
                                .kind = parameter::type::integer,
                                .fallback = "0",
                                .meaning = "elements that share a scale; 0: all",
                                .min = 0,
                                .max = static_cast<double>(packet_most_elements)},
                               {.key = "rounding",
                                .kind = parameter::type::choice,
                                .fallback = "stochastic",
                                .meaning = "nearest is deterministic and biased",
                                .choices = {"stochastic", "nearest"}}}},
      .wire_number = e3m0_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<e3m0>(bucket_layout{static_cast<std::uint64_t>(given.integer("bucket"))},
                                      rounding_of(given));
      },
      .decode = decode_e3m0,
      .examples = {"e3m0", "e3m0:bucket=10", "e3m0:rounding=nearest"},
  };
}

} // namespace gossamer::compress::detail
