#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/norm_levels.hpp"
#include "gossamer/compress/detail/packet_form.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t terngrad_wire_number = 7;
constexpr int levels = 1;
constexpr int code_bits = 2;

std::uint64_t size_in_bits(std::uint64_t elements) { return norm_bits + code_bits * elements; }

vec decode_terngrad(const packet& p) { return read_terngrad(p).values(p.payload.pool(), p.elements); }

class terngrad final : public codec {
public:
  terngrad(double clip, rounding how) : clip_(clip), how_(how) {}

  capabilities can() const override { return {.unbiased = clip_ == 0}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    const auto size = bits(v.size());
    packet p{.codec = terngrad_wire_number,
             .elements = v.size(),
             .bits = size,
             .payload = v.pool().allocate(whole_bytes(size))};
    const float scale = sendable_norm(scale_of(v.view()), levels);
    std::memcpy(p.payload.data(), &scale, sizeof scale);
    const auto grid = norm_grid(scale, levels);
    encode_levels(
        code_bits, v.view(), v.size(), [&](std::size_t) { return grid; }, {how_, random, step},
        p.payload.data() + sizeof scale);
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return size_in_bits(elements); }

  std::shared_ptr<const packet_form> form() const override {
    const auto norm = clip_ > 0 ? scale_rule::kind::clipped : scale_rule::kind::largest_norm;
    return make_form(terngrad_wire_number, level_packing{.numbers = level_form::numbers::norm,
                                                         .bits = code_bits,
                                                         .rule = {.what = norm, .levels = levels, .clip = clip_},
                                                         .how = how_});
  }

  double relative_error(std::size_t elements) const override {
    if (clip_ != 0) // s |v|_1 <= clip |v|^2, and an element that is clipped is off by no more than itself
      return clip_ + 1;
    return elements == 0 ? 0 : (std::sqrt(static_cast<double>(elements)) - 1) / 2;
  }

private:
  /// Elements beyond the scale are clipped because there is no level behind the last.
  float scale_of(std::span<const float> v) const {
    const float largest = finite_max_magnitude(v);
    if (clip_ == 0 || v.empty())
      return largest;
    const double deviation = std::sqrt(sum_of_squares(v) / static_cast<double>(v.size()));
    return static_cast<float>(std::min(static_cast<double>(largest), clip_ * deviation));
  }

  double clip_;
  rounding how_;
};

constexpr auto terngrad_maths =
    R"(s = max |v_i|; with clip=c > 0, s = min(max |v_i|, c sigma), where sigma^2 = |v|^2 / d: a mean of 0 is assumed.
C(v)_i = s * sign(v_i) * B_i, where B_i is 1 with probability min(1, |v_i| / s), else 0.
Computed as rounding of y = v_i * (1 / s): f = floor(y), k = f + [u < y - f], clamped to -1 .. 1; C(v)_i = k * s.
u = (word >> 8) * 2^-24, where word i of the step belongs to element i.
E |C(v) - v|^2 = s |v|_1 - |v|^2 <= |v|^2 (sqrt(d) - 1) / 2 without clipping, which makes it biased.
In distribution this is qsgd:levels=1,norm=max. When s is below 2^-126, all elements become 0.)";

} // namespace

level_packet read_terngrad(const packet& p) {
  if (p.parameter != 0 || p.elements > packet_most_elements)
    throw bad_packet(fmt::format("packet of codec terngrad has parameter {} and {} elements; allowed: 0 and up to {}",
                                 p.parameter, p.elements, packet_most_elements));
  expect_recipe(p, 0);
  expect_bits(p, size_in_bits(p.elements));
  read_norm(p.payload.data(), levels);
  return {{level_form::numbers::norm, code_bits, std::max<std::uint64_t>(p.elements, 1), levels},
          reinterpret_cast<const float*>(p.payload.data()),
          p.payload.data() + sizeof(float)};
}

codec_entry terngrad_codec() {
  return {
      .about = {.name = "terngrad",
                .summary = "stochastic rounding to -s, 0 and s, the largest magnitude or where it is clipped",
                .maths = std::string{terngrad_maths} + halves_maths,
                .reference = "Wen, Xu, Yan, Wu, Wang, Chen, Li: TernGrad: ternary gradients to reduce communication "
                             "in distributed deep learning, NeurIPS 2017",
                .cost = "32 + 2 d bits; two passes over v (three when it clips) and one random word an element "
                        "(half of one with rounding=16)",
                .parameters = {{.key = "clip",
                                .kind = parameter::type::real,
                                .fallback = "0",
                                .meaning = "where elements are clipped, in standard deviations, e.g. 2.5; 0: nowhere",
                                .min = 0,
                                .max = 100},
                               rounding_parameter()}},
      .wire_number = terngrad_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<terngrad>(given.real("clip"), rounding_of(given));
      },
      .decode = decode_terngrad,
      .contents = [](const packet& p) { return make_contents(read_terngrad(p)); },
      .examples = {"terngrad", "terngrad:clip=1.5", "terngrad:rounding=16"},
  };
}

} // namespace gossamer::compress::detail
