#include "gossamer/compress/uniform.hpp"

#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/uniform_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gossamer::compress {

double uniform_expected_error(std::span<const float> v, int bits) {
  const float delta = detail::uniform_scale(max_magnitude(v), bits);
  if (delta == 0)
    return sum_of_squares(v);
  const float inverse = 1 / delta;
  double sum = 0;
  for (const float x : v) {
    const float y = x * inverse, r = y - std::floor(y);
    sum += static_cast<double>(r) * (1 - static_cast<double>(r));
  }
  return static_cast<double>(delta) * static_cast<double>(delta) * sum;
}

namespace detail {
namespace {

constexpr std::uint8_t uniform_wire_number = 2;

} // namespace

float read_uniform_scale(const packet& p) {
  if (p.payload.size() < sizeof(float))
    throw bad_packet(
        fmt::format("packet of codec {} has a payload of {} bytes, too few for its scale", p.codec, p.payload.size()));
  float delta;
  std::memcpy(&delta, p.payload.data(), sizeof delta);
  const bool zero = std::bit_cast<std::uint32_t>(delta) == 0;
  if (!zero && !(std::isnormal(delta) && delta > 0))
    throw bad_packet(
        fmt::format("packet of codec {} has the scale {}; it must be 0 or a positive normal number", p.codec, delta));
  return delta;
}

void expect_finite_levels(const packet& p, float delta, int bits, std::span<const float> values) {
  if (!std::isfinite(std::ldexp(delta, bits - 1)) && !std::isfinite(max_magnitude(values)))
    throw bad_packet(fmt::format("packet of codec {} holds a level beyond the largest float", p.codec));
}

namespace {

std::uint64_t size_in_bits(int bits, std::uint64_t elements) {
  return uniform_scale_bits + static_cast<std::uint64_t>(bits) * elements;
}

/// Decodes a packet whose values may still overflow.
vec decode_uniform(const packet& p) {
  const auto levels = read_uniform(p);
  auto v = levels.values(p.payload.pool(), p.elements);
  expect_finite_levels(p, *levels.numbers, levels.form.bits, v.view());
  return v;
}

class uniform final : public codec {
public:
  uniform(int bits, rounding how) : bits_(bits), how_(how) {}

  capabilities can() const override { return {.unbiased = true}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    const float delta = uniform_scale(finite_max_magnitude(v.view()), bits_);
    const auto size = delta == 0 ? uniform_scale_bits : bits(v.size());
    packet p{uniform_wire_number,
             static_cast<std::uint8_t>(bits_),
             v.size(),
             size,
             v.pool().allocate(whole_bytes(size)),
             {}};
    std::memcpy(p.payload.data(), &delta, sizeof delta);
    if (delta == 0)
      return p;

    const auto grid = uniform_grid(delta, bits_);
    encode_levels(
        bits_, v.view(), v.size(), [&](std::size_t) { return grid; }, {how_, random, step},
        p.payload.data() + sizeof delta);
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return size_in_bits(bits_, elements); }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(uniform_wire_number, level_packing{.parameter = static_cast<std::uint8_t>(bits_),
                                                        .numbers = level_form::numbers::uniform_scale,
                                                        .bits = bits_,
                                                        .rule = {.what = scale_rule::kind::uniform, .bits = bits_},
                                                        .how = how_,
                                                        .zero_in_scale_alone = true});
  }

  double relative_error(std::size_t elements) const override {
    const double levels = bits_ == 1 ? 0.5 : (1 << (bits_ - 1)) - 1; // half the number of steps between -max and max
    return static_cast<double>(elements) / (4 * levels * levels);
  }

private:
  int bits_;
  rounding how_;
};

constexpr auto uniform_maths =
    R"(delta = max |v_i| / L, where L = 2^(b-1) - 1, and L = 1 for b = 1; in 32-bit floats, one rounding an operation.
y = v_i * (1 / delta), f = floor(y), k = f + [u < y - f], clamped to -L .. L; C(v)_i = k * delta.
u = (word >> 8) * 2^-24, where word i of the step belongs to element i.
b = 1 has the two levels -delta and delta: y = v_i * (0.5 / delta) - 0.5, k as above but clamped to -1 .. 0, and
C(v)_i = (2 k + 1) * delta. (The paper's {-delta, 0} could not represent a positive number without bias.)
E |C(v) - v|^2 = delta^2 sum r_i (1 - r_i), r_i = frac(v_i / delta); at most d delta^2 / 4.
When delta would be below 2^-126, all elements are sent as zero (delta = 0, no codes).)";

} // namespace

level_packet read_uniform(const packet& p) {
  const int bits = p.parameter;
  if (bits < 1 || bits > uniform_most_bits)
    throw bad_packet(fmt::format("packet of codec uniform has codes of {} bits; allowed: 1 to 16", bits));
  if (p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec uniform has {} elements; allowed: {}", p.elements, packet_most_elements));
  const float delta = read_uniform_scale(p);
  expect_recipe(p, 0);
  expect_bits(p, delta == 0 ? uniform_scale_bits : size_in_bits(bits, p.elements));
  return {{level_form::numbers::uniform_scale, bits, std::max<std::uint64_t>(p.elements, 1)},
          reinterpret_cast<const float*>(p.payload.data()),
          delta == 0 ? nullptr : p.payload.data() + sizeof delta};
}

namespace {

/// Levels may lie beyond the largest float; then only the values say whether any is sent.
std::shared_ptr<const packet_contents> contents_of_uniform(const packet& p) {
  const auto levels = read_uniform(p);
  return std::isfinite(std::ldexp(*levels.numbers, levels.form.bits - 1)) ? make_contents(levels) : nullptr;
}

} // namespace

codec_entry uniform_codec() {
  return {
      .about = {.name = "uniform",
                .summary = "stochastic rounding to evenly spaced levels, scaled by the largest element",
                .maths = std::string{uniform_maths} + halves_maths,
                .reference = "Yu, Wu, Huang: Double quantization for communication-efficient "
                             "distributed optimization, "
                             "NeurIPS 2019, section 3",
                .cost = "32 + b d bits, 32 when v = 0; two passes over v and one random word an element (half of one "
                        "with rounding=16)",
                .parameters = {{.key = "bits",
                                .kind = parameter::type::integer,
                                .fallback = "8",
                                .meaning = "bits of one element's code",
                                .min = 1,
                                .max = uniform_most_bits},
                               rounding_parameter()}},
      .wire_number = uniform_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<uniform>(static_cast<int>(given.integer("bits")), rounding_of(given));
      },
      .decode = decode_uniform,
      .contents = contents_of_uniform,
      .examples = {"uniform:bits=1", "uniform:bits=2", "uniform:bits=3", "uniform:bits=4", "uniform:bits=8",
                   "uniform:bits=11", "uniform:bits=16", "uniform:bits=8,rounding=16"},
  };
}

} // namespace detail
} // namespace gossamer::compress
