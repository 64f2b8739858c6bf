#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/levels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t fixed_grid_wire_number = 5;
constexpr std::uint64_t step_bits = 32;
constexpr int least_bits = 2, most_bits = 32;
constexpr int widest_kernel = 16;

/// -2^(b-1) as a float; one less than its magnitude is the last level.
float bottom_of(int bits) { return -std::ldexp(1.0f, bits - 1); }

/// Every level must be a float, and so must 1 / step.
bool allowed(float step, int bits) { return std::isnormal(step) && step > 0 && std::isfinite(bottom_of(bits) * step); }

/// Returns three digits of a positive number, and no more than it.
std::string rounded_down(double x) {
  const double unit = std::pow(10, std::floor(std::log10(x)) - 2);
  return fmt::format("{:.3g}", std::floor(x / unit) * unit);
}

std::uint64_t grid_size_in_bits(int bits, std::uint64_t elements) {
  return step_bits + static_cast<std::uint64_t>(bits) * elements;
}

level_grid grid_of(float step, int bits) {
  return {.step = step, .inverse = 1 / step, .bottom = bottom_of(bits), .top = -bottom_of(bits) - 1};
}

/// Codes that are too wide for the kernels: the last level need not be a float.
void encode_wide(int bits, float step, std::span<const float> v, const rounding_bits& random, std::byte* out) {
  bit_writer writer({out, static_cast<std::size_t>(whole_bytes(static_cast<std::uint64_t>(bits) * v.size()))});
  const float inverse = 1 / step;
  const double bottom = static_cast<double>(bottom_of(bits)), top = -bottom - 1;
  level_bits drawn;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i % level_block == 0)
      random.fill(i, std::min(level_block, v.size() - i), drawn);
    const float y = v[i] * inverse, f = std::floor(y);
    const float u = static_cast<float>(drawn.word(i % level_block) >> 8) * 0x1p-24f;
    const float k = f + (u < y - f ? 1.0f : 0.0f);
    const auto level = static_cast<std::int64_t>(std::clamp(static_cast<double>(k), bottom, top));
    writer.put(static_cast<std::uint64_t>(level) & ((std::uint64_t{1} << bits) - 1), bits);
  }
  writer.finish();
}

void decode_wide(int bits, float step, std::span<const std::byte> in, std::span<float> v) {
  bit_reader reader(in, static_cast<std::uint64_t>(bits) * v.size());
  const auto sign = std::int64_t{1} << (bits - 1);
  for (float& x : v)
    x = static_cast<float>((static_cast<std::int64_t>(reader.take(bits)) ^ sign) - sign) * step;
}

vec decode_fixed_grid(const packet& p) {
  const int bits = p.parameter;
  if (bits < least_bits || bits > most_bits || p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec fixed-grid has {} elements in codes of {} bits; allowed: {} and {} to {}",
                    p.elements, bits, packet_most_elements, least_bits, most_bits));
  expect_recipe(p, 0);
  expect_bits(p, grid_size_in_bits(bits, p.elements));
  float step;
  std::memcpy(&step, p.payload.data(), sizeof step);
  if (!allowed(step, bits))
    throw bad_packet(fmt::format("packet of codec fixed-grid has the step {}, with which levels are no floats", step));
  vec v{p.payload.pool().allocate(p.elements * sizeof(float))};
  const auto codes = p.payload.bytes().subspan(sizeof step);
  const auto grid = grid_of(step, bits);
  if (bits <= widest_kernel)
    decode_levels(
        bits, codes.data(), v.size(), [&](std::size_t) { return grid; }, v.overwrite());
  else
    decode_wide(bits, step, codes, v.overwrite());
  return v;
}

class fixed_grid final : public codec {
public:
  fixed_grid(float step, int bits, rounding how) : step_(step), bits_(bits), how_(how) {}

  capabilities can() const override { return {.unbiased_in_range = true}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    finite_max_magnitude(v.view());
    const auto size = bits(v.size());
    packet p{.codec = fixed_grid_wire_number,
             .parameter = static_cast<std::uint8_t>(bits_),
             .elements = v.size(),
             .bits = size,
             .payload = v.pool().allocate(whole_bytes(size))};
    std::memcpy(p.payload.data(), &step_, sizeof step_);
    auto* codes = p.payload.data() + sizeof step_;
    const auto grid = grid_of(step_, bits_);
    if (bits_ <= widest_kernel)
      encode_levels(
          bits_, v.view(), v.size(), [&](std::size_t) { return grid; }, {how_, random, step}, codes);
    else
      encode_wide(bits_, step_, v.view(), {how_, random, step}, codes);
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return grid_size_in_bits(bits_, elements); }
  double relative_error(std::size_t) const override { return std::numeric_limits<double>::infinity(); }

private:
  float step_;
  int bits_;
  rounding how_;
};

constexpr auto fixed_grid_maths =
    R"(dom(delta, b) = { k * delta : k = -2^(b-1) .. 2^(b-1) - 1 }, delta = step, whatever the vector.
y = v_i * (1 / delta), f = floor(y), k = f + [u < y - f], then clamped to dom; C(v)_i = k * delta.
u = (word >> 8) * 2^-24, where word i of the step belongs to element i.
Unbiased where -2^(b-1) delta <= v_i <= (2^(b-1) - 1) delta for all i; biased outside.
Inside, E |C(v) - v|^2 = delta^2 sum r_i (1 - r_i) <= d delta^2 / 4, r_i = frac(v_i / delta). The error does not shrink
with v, so no relative error bounds it.)";

} // namespace

codec_entry fixed_grid_codec() {
  return {
      .about = {.name = "fixed-grid",
                .summary = "stochastic rounding to multiples of a fixed step, clamped; unbiased within its range",
                .maths = std::string{fixed_grid_maths} + halves_maths,
                .reference = "Yu, Wu, Huang: Double quantization for communication-efficient distributed "
                             "optimization, NeurIPS 2019, section 3",
                .cost =
                    "32 + b d bits; two passes over v and one random word an element (half of one with rounding=16)",
                .parameters = {{.key = "step",
                                .kind = parameter::type::real,
                                .fallback = "0.01",
                                .meaning = "distance of two levels, more than 0"},
                               {.key = "bits",
                                .kind = parameter::type::integer,
                                .fallback = "16",
                                .meaning = "bits of one element's code",
                                .min = least_bits,
                                .max = most_bits},
                               rounding_parameter()}},
      .wire_number = fixed_grid_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        const auto step = given.real32("step");
        const auto bits = static_cast<int>(given.integer("bits"));
        if (!allowed(step, bits))
          throw error(errc::usage,
                      fmt::format("step of codec 'fixed-grid' is {}, which is out of range", given.text("step")),
                      fmt::format("allowed with bits={}: {:.3g} to {}", bits, std::numeric_limits<float>::min(),
                                  rounded_down(std::numeric_limits<float>::max() / -bottom_of(bits))));
        return std::make_unique<fixed_grid>(step, bits, rounding_of(given));
      },
      .decode = decode_fixed_grid,
      .examples = {"fixed-grid", "fixed-grid:bits=23", "fixed-grid:rounding=16", "fixed-grid:bits=23,rounding=16"},
  };
}

} // namespace gossamer::compress::detail
