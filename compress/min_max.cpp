#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/value_range.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t min_max_wire_number = 3;
constexpr std::size_t range_bytes = range_bits / 8;

/// How a vector is written: `chunk` elements share a range, or all of them when it is 0.
struct chunked_layout {
  int bits;
  std::uint64_t chunk;

  std::vector<std::uint64_t> recipe() const { return chunk == 0 ? std::vector<std::uint64_t>{} : std::vector{chunk}; }
  std::uint64_t chunk_of(std::uint64_t elements) const { return chunk == 0 ? elements : chunk; }
  std::uint64_t chunks(std::uint64_t elements) const {
    return elements == 0 ? 0 : chunks_of(elements, chunk_of(elements));
  }
  std::uint64_t size_in_bits(std::uint64_t elements) const {
    return range_bits * chunks(elements) + static_cast<std::uint64_t>(bits) * elements;
  }
  level_form of(std::uint64_t elements) const {
    return {level_form::numbers::range, bits, std::max<std::uint64_t>(chunk_of(elements), 1)};
  }
};

chunked_layout chunked_layout_of(const packet& p) {
  const int bits = p.parameter;
  if (bits < 1 || bits > 16)
    throw bad_packet(fmt::format("packet of codec min-max has codes of {} bits; allowed: 1 to 16", bits));
  if (p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec min-max has {} elements; allowed: {}", p.elements, packet_most_elements));
  expect_recipe(p, p.recipe.empty() ? 0 : 1);
  if (p.recipe.empty())
    return {bits, 0};
  if (p.recipe[0] == 0 || p.recipe[0] > packet_most_elements)
    throw bad_packet(fmt::format("packet of codec min-max has chunks of {} elements; allowed: 1 to {}", p.recipe[0],
                                 packet_most_elements));
  return {bits, p.recipe[0]};
}

vec decode_min_max(const packet& p) { return read_min_max(p).values(p.payload.pool(), p.elements); }

class min_max final : public codec {
public:
  min_max(chunked_layout form, rounding how) : form_(form), how_(how) {}

  capabilities can() const override {
    const bool nearest = how_ == rounding::nearest;
    return {.unbiased = !nearest, .deterministic = nearest};
  }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    packet p{.codec = min_max_wire_number,
             .parameter = static_cast<std::uint8_t>(form_.bits),
             .elements = v.size(),
             .bits = bits(v.size()),
             .payload = {}};
    p.recipe = form_.recipe();
    p.payload = v.pool().allocate(whole_bytes(p.bits));
    auto* ranges = p.payload.data();
    const auto chunk = form_.chunk_of(v.size());
    for_each_part(0, v.size(), chunk, [&](std::size_t c, std::size_t first, std::size_t count) {
      const auto range = finite_range_of(v.view().subspan(first, count), v.view());
      write_range(sendable_range(range, form_.bits), ranges + range_bytes * c);
    });
    const auto grid_of = [&](std::size_t c) { return range_grid(read_range(ranges + range_bytes * c), form_.bits); };
    encode_levels(form_.bits, v.view(), chunk, grid_of, {how_, random, step},
                  ranges + range_bytes * form_.chunks(v.size()));
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return form_.size_in_bits(elements); }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(min_max_wire_number, level_packing{.parameter = static_cast<std::uint8_t>(form_.bits),
                                                        .recipe = form_.recipe(),
                                                        .numbers = level_form::numbers::range,
                                                        .bits = form_.bits,
                                                        .rule = {.what = scale_rule::kind::range, .bits = form_.bits},
                                                        .row = form_.chunk,
                                                        .how = how_});
  }

  double relative_error(std::size_t elements) const override {
    const auto together = std::min<std::uint64_t>(form_.chunk_of(elements), elements);
    return range_relative_error(together, 1 / static_cast<double>(range_top(form_.bits)));
  }

private:
  chunked_layout form_;
  rounding how_;
};

constexpr auto min_max_maths =
    R"(lo = min v_i, hi = max v_i, L = 2^b - 1, step = (hi - lo) / L, in 32-bit floats, one rounding an operation.
y = (v_i - lo) / step, f = floor(y), k = f + [u < y - f], clamped to 0 .. L; C(v)_i = lo + k * step.
u = (word >> 8) * 2^-24, where word i of the step belongs to element i; u = 1/2 when rounding=nearest, which is biased.
lo and hi are always sent as 0 and L, and these stand for exactly lo and hi. Computed from the middle of lo and hi, so
that hi - lo may overflow: docs/wire-format.md.
With chunk=n, every n elements (and what is left) have a lo and hi of their own.
E |C(v) - v|^2 = step^2 sum r_i (1 - r_i), r_i = frac(y_i); at most d step^2 / 4.
When step would be below 2^-126, hi is set to lo, and all elements of the chunk become lo.)";

} // namespace

level_packet read_min_max(const packet& p) {
  const auto form = chunked_layout_of(p);
  expect_bits(p, form.size_in_bits(p.elements));
  const auto* ranges = p.payload.data();
  const auto chunks = form.chunks(p.elements);
  for (std::size_t c = 0; c < chunks; ++c) {
    const auto range = read_range(ranges + range_bytes * c);
    if (range.high != sendable_range(range, form.bits).high)
      throw bad_packet(fmt::format("packet of codec min-max has levels between {} and {}, too near to each other",
                                   range.low, range.high));
  }
  return {form.of(p.elements), reinterpret_cast<const float*>(ranges), ranges + range_bytes * chunks};
}

codec_entry min_max_codec() {
  return {
      .about = {.name = "min-max",
                .summary = "stochastic rounding to evenly spaced levels between the least and the greatest element",
                .maths = std::string{min_max_maths} + halves_maths,
                .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, "
                             "NeurIPS 2018, footnote 1",
                .cost = "64 chunks + b d bits; two passes over v and one random word an element (half of one with "
                        "rounding=16, none when nearest)",
                .parameters = {{.key = "bits",
                                .kind = parameter::type::integer,
                                .fallback = "8",
                                .meaning = "bits of one element's code",
                                .min = 1,
                                .max = 16},
                               {.key = "chunk",
                                .kind = parameter::type::integer,
                                .fallback = "0",
                                .meaning = "elements that share their least and greatest; 0: all",
                                .min = 0,
                                .max = static_cast<double>(packet_most_elements)},
                               {.key = "rounding",
                                .kind = parameter::type::choice,
                                .fallback = "stochastic",
                                .meaning = std::string{"16 random bits an element are faster, and "} + halves_bias
                                           + "; nearest is deterministic and biased",
                                .choices = {"stochastic", "nearest", "16"}}}},
      .wire_number = min_max_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<min_max>(chunked_layout{.bits = static_cast<int>(given.integer("bits")),
                                                        .chunk = static_cast<std::uint64_t>(given.integer("chunk"))},
                                         rounding_of(given));
      },
      .decode = decode_min_max,
      .contents = [](const packet& p) { return make_contents(read_min_max(p)); },
      .examples = {"min-max", "min-max:bits=3,chunk=10", "min-max:rounding=nearest", "min-max:rounding=16"},
  };
}

} // namespace gossamer::compress::detail
