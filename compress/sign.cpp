#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t scaled_wire_number = 14;
constexpr std::uint64_t scale_bits = 32;

vec decode_sign(const packet& p) { return read_sign(p).values(p.payload.pool(), p.elements); }
vec decode_scaled(const packet& p) { return read_scaled_sign(p).values(p.payload.pool(), p.elements); }

class sign final : public codec {
public:
  capabilities can() const override { return {.deterministic = true}; }

  packet encode(const vec& v, const random_stream&, std::uint64_t) const override {
    const auto size = bits(v.size());
    packet p{sign_wire_number, 0, v.size(), size, v.pool().allocate(whole_bytes(size)), {}};
    if (!pack_sign_bits(v.view(), p.payload.data()))
      finite_max_magnitude(v.view());
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return elements; }
  std::shared_ptr<const packet_form> form() const override {
    return make_form(sign_wire_number, sign_packing{.what = sign_packing::kind::plain});
  }
  double relative_error(std::size_t) const override { return std::numeric_limits<double>::infinity(); }
};

class scaled_sign final : public codec {
public:
  capabilities can() const override { return {.deterministic = true}; }

  packet encode(const vec& v, const random_stream&, std::uint64_t) const override {
    const auto size = bits(v.size());
    packet p{scaled_wire_number, 0, v.size(), size, v.pool().allocate(whole_bytes(size)), {}};
    if (!pack_sign_bits(v.view(), p.payload.data() + sizeof(float)))
      finite_max_magnitude(v.view());
    const auto scale = static_cast<float>(sum_of_magnitudes(v.view()) / static_cast<double>(v.size()));
    std::memcpy(p.payload.data(), &scale, sizeof scale);
    if (!(scale > 0)) { // or there are no elements
      p.bits = 0;
      p.payload.truncate(0);
    }
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return scale_bits + elements; }
  std::shared_ptr<const packet_form> form() const override {
    return make_form(scaled_wire_number, sign_packing{.what = sign_packing::kind::scaled, .sends_magnitudes = true});
  }
  double relative_error(std::size_t elements) const override {
    return elements == 0 ? 0 : 1 - 1 / static_cast<double>(elements);
  }
};

} // namespace

signed_packet read_sign(const packet& p) {
  expect_recipe(p, 0);
  expect_bits(p, p.elements);
  return {p.payload.data(), nullptr, std::max<std::uint64_t>(p.elements, 1)};
}

signed_packet read_scaled_sign(const packet& p) {
  expect_recipe(p, 0);
  if (p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec scaled-sign has {} elements; allowed: {}", p.elements, packet_most_elements));
  expect_bits(p, p.bits == 0 ? 0 : scale_bits + p.elements);
  const auto row = std::max<std::uint64_t>(p.elements, 1);
  if (p.bits == 0)
    return {nullptr, nullptr, row};
  const auto* scale = reinterpret_cast<const float*>(p.payload.data());
  if (!(std::isfinite(*scale) && *scale > 0))
    throw bad_packet(
        fmt::format("packet of codec scaled-sign has the scale {}; it must be positive and finite", *scale));
  return {p.payload.data() + sizeof *scale, scale, row};
}

codec_entry sign_codec() {
  return {
      .about = {.name = "sign",
                .summary = "the sign of each element, without any magnitude",
                .maths =
                    "C(v)_i = 1 if v_i >= 0, else -1; so 0 and -0 become 1.\n"
                    "Biased, and |C(v) - v| is bounded by no multiple of |v|: whoever uses it chooses a step size.",
                .reference = "Bernstein, Wang, Azizzadenesheli, Anandkumar: signSGD: compressed optimisation for "
                             "non-convex problems, ICML 2018",
                .cost = "d bits; one pass over v",
                .parameters = {}},
      .wire_number = sign_wire_number,
      .make = [](const arguments&, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<sign>();
      },
      .decode = decode_sign,
      .contents = [](const packet& p) { return make_contents(read_sign(p)); },
      .examples = {"sign"},
  };
}

codec_entry scaled_sign_codec() {
  return {
      .about = {.name = "scaled-sign",
                .summary = "the sign of each element, times the mean magnitude",
                .maths = "C(v)_i = s if v_i >= 0, else -s, where s = |v|_1 / d, summed in 64-bit floats.\n"
                         "|C(v) - v|^2 = (1 - delta) |v|^2 exactly, up to the rounding of s to 32 bits, where delta = "
                         "|v|_1^2 / (d |v|^2) >= 1 / d.\n"
                         "A vector whose s rounds to 0 is sent as zero, in no bits.",
                .reference = "Karimireddy, Rebjock, Stich, Jaggi: Error feedback fixes SignSGD and other gradient "
                             "compression schemes, ICML 2019, algorithm 1",
                .cost = "32 + d bits, none when v = 0; two passes over v",
                .parameters = {}},
      .wire_number = scaled_wire_number,
      .make = [](const arguments&, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<scaled_sign>();
      },
      .decode = decode_scaled,
      .contents = [](const packet& p) { return make_contents(read_scaled_sign(p)); },
      .examples = {"scaled-sign"},
  };
}

} // namespace gossamer::compress::detail
