#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/recipe.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"
#include "gossamer/compress/detail/uniform_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t optimal_p_wire_number = 9;

/// Returns the level tau with sum min(1, |v_i| / tau) = budget; 0 when all elements that are not 0 can be kept.
/// Water-filling: an element above the level costs 1, and the others share the rest of the budget.
/// @param norm the largest magnitude
float level_of(std::span<const float> v, float norm, double budget) {
  if (budget == 0)
    return norm;
  for (double level = std::numeric_limits<double>::infinity();;) {
    const auto [below, above] = part_magnitudes(v, level);
    const double next = below / (budget - above);
    const bool lower = next >= 0 && next < level;
    level = lower ? next : level;
    if (!lower || norm <= level) // where nothing is above the level, the same sums would give it again
      return static_cast<float>(std::min(level, static_cast<double>(std::numeric_limits<float>::max())));
  }
}

/// Returns v_i / p_i of the elements that are kept.
survivors draw(const vec& v, float level, const random_stream& random, std::uint64_t step) {
  std::array<std::uint32_t, draw_block> words;
  auto drawn = keep_some<draw_block>(v, [&](auto block, auto first, auto to) {
    random.fill(step, first, std::span{words}.first(block.size()));
    return keep_large(block, words.data(), level, static_cast<std::uint32_t>(first), to);
  });
  for (float& x : drawn.values.mutate())
    x = std::copysign(std::max(std::fabs(x), level), x);
  return drawn;
}

/// Rounds the survivors to the levels of `uniform`.
packet quantise(std::size_t elements, const survivors& s, int bits, const random_stream& random, std::uint64_t step) {
  const float delta = uniform_scale(max_magnitude(s.values.view()), bits);
  const auto count = delta == 0 ? 0 : s.kept.size();
  const auto places_begin = uniform_scale_bits + static_cast<std::uint64_t>(bits) * count;
  const auto size = places_begin + static_cast<std::uint64_t>(place_bits(elements)) * count;
  packet p{optimal_p_wire_number,
           static_cast<std::uint8_t>(bits),
           elements,
           size,
           s.values.pool().allocate(whole_bytes(size)),
           {}};
  std::memcpy(p.payload.data(), &delta, sizeof delta);
  if (delta == 0)
    return p;
  // The words that chose the survivors are no longer random, so rounding has a stream of its own.
  const random_stream own{recipe_word(random), 0, purpose::quantise};
  const auto grid = uniform_grid(delta, bits);
  encode_levels(
      bits, s.values.view(), count, [&](std::size_t) { return grid; }, {rounding::words, own, step},
      p.payload.data() + sizeof delta);
  write_places(p, places_begin, s.kept);
  return p;
}

vec decode_quantised(const packet& p) {
  const int bits = p.parameter;
  if (bits == 1 || bits > 16)
    throw bad_packet(fmt::format("packet of codec optimal-p has codes of {} bits; allowed: 0 and 2 to 16", bits));
  const float delta = read_uniform_scale(p);
  expect_recipe(p, 0);
  const auto count = read_count(p, uniform_scale_bits, bits + place_bits(p.elements));
  if ((count == 0) != (delta == 0))
    throw bad_packet(fmt::format("packet of codec optimal-p has {} values and the scale {}", count, delta));
  auto pool = p.payload.pool();
  if (delta == 0)
    return vec{pool, p.elements};
  vec values{pool.allocate(count * sizeof(float))};
  const auto grid = uniform_grid(delta, bits);
  decode_levels(
      bits, p.payload.data() + sizeof delta, count, [&](std::size_t) { return grid; }, values.overwrite());
  expect_finite_levels(p, delta, bits, values.view());
  const auto places_begin = uniform_scale_bits + static_cast<std::uint64_t>(bits) * count;
  return scatter(pool, p.elements, read_places(p, places_begin, count), values.view());
}

vec decode_optimal_p(const packet& p) { return p.parameter == 0 ? decode_with_places(p) : decode_quantised(p); }

class optimal_p final : public codec {
public:
  optimal_p(double budget, int bits) : budget_(budget), bits_(bits) {}

  capabilities can() const override { return {.unbiased = true, .fixed_size = false}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    const float level = level_of(v.view(), finite_max_magnitude(v.view()), budget_);
    const auto drawn = draw(v, level, random, step);
    if (bits_ > 0)
      return quantise(v.size(), drawn, bits_, random, step);
    return values_with_places(optimal_p_wire_number, v.size(), drawn.kept, drawn.values.view());
  }

  std::uint64_t bits(std::size_t elements) const override {
    const auto value_bits = static_cast<std::uint64_t>(bits_ > 0 ? bits_ : 32);
    return (bits_ > 0 ? uniform_scale_bits : 0)
           + elements * (value_bits + static_cast<std::uint64_t>(place_bits(elements)));
  }

  double relative_error(std::size_t elements) const override {
    if (elements == 0)
      return 0;
    const double d = static_cast<double>(elements), phi = std::min(budget_, d);
    // E |beta|^2 <= most |v|^2, where at most phi elements are expected to be kept.
    const double most = budget_ == 0 ? (std::sqrt(d) + 1) / 2 : d / phi;
    if (bits_ == 0)
      return most - 1;
    // Each survivor adds at most delta^2 / 4, and either all have one magnitude or delta is at most |v|_inf / L.
    const double levels = (1 << (bits_ - 1)) - 1;
    return most - 1 + (budget_ == 0 ? most : phi) / (4 * levels * levels);
  }

private:
  double budget_;
  int bits_;
};

constexpr auto optimal_p_maths =
    R"(beta_i = v_i / p_i with probability p_i = min(1, |v_i| / tau), else 0; tau is such that
sum p_i = min(phi, number of v_i that are not 0), which makes E |beta|^2 least. phi = 0 stands for |v|_1 / |v|_inf; then
tau = |v|_inf, and all survivors are +-tau.
Element i survives if u_i tau < |v_i| or tau <= |v_i|, and becomes sign(v_i) max(|v_i|, tau).
u_i = (word >> 8) * 2^-24, where word i of the step belongs to element i.
bits=0: C(v) = beta. Otherwise survivors are rounded as by the codec uniform, delta = |beta|_inf / (2^(b-1) - 1).
E |beta - v|^2 <= (d / phi - 1) |v|^2; for phi = 0, <= (sqrt(d) - 1) / 2 |v|^2.)";

} // namespace

codec_entry optimal_p_codec() {
  return {
      .about = {.name = "optimal-p",
                .summary = "sends large elements more probably than small ones, with the least variance for its budget",
                .maths = optimal_p_maths,
                .reference = "Wangni, Wang, Liu, Zhang: Gradient sparsification for communication-efficient "
                             "distributed optimization, NeurIPS 2018; Yu, Wu, Huang: Double quantization for "
                             "communication-efficient distributed optimization, NeurIPS 2019, equation 3",
                .cost = "n (32 + ceil(log2 d)) bits for n survivors, phi expected; with b bits 32 + n (b + ceil(log2 "
                        "d)), and 32 when nothing survives. Three passes over v, with phi > 0 one more for each round "
                        "of water-filling, and one random word an element",
                .parameters = {{.key = "budget",
                                .fallback = "0",
                                .meaning = "phi, the expected number of elements that are kept; 0: |v|_1 / |v|_inf",
                                .min = 0},
                               {.key = "bits",
                                .kind = parameter::type::integer,
                                .fallback = "0",
                                .meaning = "bits of a survivor's code, 2 to 16; 0: floats",
                                .min = 0,
                                .max = 16}}},
      .wire_number = optimal_p_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        const auto bits = given.integer("bits");
        if (bits == 1)
          throw error(errc::usage, "bits of codec 'optimal-p' is 1, which is out of range", "allowed: 0 and 2 to 16");
        return std::make_unique<optimal_p>(given.real("budget"), static_cast<int>(bits));
      },
      .decode = decode_optimal_p,
      .examples = {"optimal-p", "optimal-p:budget=9,bits=5"},
  };
}

} // namespace gossamer::compress::detail
