// bfloat16 with stochastic rounding: the upper half of each float. It is the example of docs/adding-a-codec.md.
#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t bfloat16_wire_number = 17;
constexpr std::size_t words_at_once = 1024; // random words are drawn fast many at a time

/// The upper half of a float, rounded away from 0 with the probability that makes the mean right.
std::uint16_t round_randomly(float x, std::uint32_t word) {
  const auto whole = std::bit_cast<std::uint32_t>(x);
  const auto rounded = (whole + (word & 0xFFFFu)) & 0xFFFF0000u;
  const bool overflows = (rounded & 0x7F800000u) == 0x7F800000u;
  return static_cast<std::uint16_t>((overflows ? whole : rounded) >> 16);
}

vec decode_bfloat16(const packet& p) {
  if (p.elements > p.payload.size()) // so that 16 * elements cannot overflow
    throw bad_packet("packet of codec bfloat16 has more elements than its payload has bytes");
  expect_recipe(p, 0);
  expect_bits(p, 16 * p.elements);
  if (p.parameter != 0)
    throw bad_packet(fmt::format("packet of codec bfloat16 has the parameter {} instead of 0", p.parameter));
  auto pool = p.payload.pool();
  vec v{pool, p.elements};
  const auto* codes = p.payload.data();
  bool special = false;
  for (float& x : v.overwrite()) {
    std::uint16_t code;
    std::memcpy(&code, codes, sizeof code);
    x = std::bit_cast<float>(std::uint32_t{code} << 16);
    special |= (code & 0x7F80u) == 0x7F80u;
    codes += sizeof code;
  }
  if (special) // which no encoder writes
    throw bad_packet("packet of codec bfloat16 holds a value that is not finite");
  return v;
}

class bfloat16 final : public codec {
public:
  capabilities can() const override { return {.unbiased = true}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    finite_max_magnitude(v.view()); // refuses NaN and infinity
    packet p{bfloat16_wire_number, 0, v.size(), bits(v.size()), v.pool().allocate(2 * v.size())};
    auto* codes = p.payload.data();
    const auto values = v.view();
    std::array<std::uint32_t, words_at_once> words;
    for (std::size_t first = 0; first < values.size(); first += words_at_once) {
      const auto part = values.subspan(first, std::min(words_at_once, values.size() - first));
      random.fill(step, first, std::span{words}.first(part.size()));
      for (std::size_t i = 0; i < part.size(); ++i, codes += 2) {
        const auto code = round_randomly(part[i], words[i]);
        std::memcpy(codes, &code, sizeof code);
      }
    }
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return 16 * std::uint64_t{elements}; }
  double relative_error(std::size_t) const override { return 0x1p-16; } // (half of 2^-7)^2, at most, of each element
};

} // namespace

codec_entry bfloat16_codec() {
  return {
      .about = {.name = "bfloat16",
                .summary = "the upper half of each float, rounded at random",
                .maths = "C(v)_i is one of the two neighbours of v_i among the floats of 8 bits of "
                         "precision, so chosen that E C(v)_i = v_i",
                .cost = "16 d bits; two passes over v and one random word an element"},
      .wire_number = bfloat16_wire_number,
      .make = [](const arguments&, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<bfloat16>();
      },
      .decode = decode_bfloat16,
      .examples = {"bfloat16"},
  };
}

} // namespace gossamer::compress::detail
