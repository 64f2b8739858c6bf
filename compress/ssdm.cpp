#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/norm_levels.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t ssdm_wire_number = 15;

/// Number of elements that share a norm: as the recipe says, else all.
std::uint64_t bucket_of(const packet& p) {
  if (p.recipe.empty())
    return std::max<std::uint64_t>(p.elements, 1);
  expect_recipe(p, 1);
  if (p.recipe[0] < 1 || p.recipe[0] > packet_most_elements)
    throw bad_packet(fmt::format("packet of codec ssdm has buckets of {} elements; allowed: 1 to {}", p.recipe[0],
                                 packet_most_elements));
  return p.recipe[0];
}

vec decode_ssdm(const packet& p) { return read_ssdm(p).values(p.payload.pool(), p.elements); }

class ssdm final : public codec {
public:
  ssdm(bool keeps_norm, std::uint64_t bucket) : keeps_norm_(keeps_norm), bucket_(bucket) {}

  capabilities can() const override { return {.unbiased = keeps_norm_}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    const auto bucket = bucket_or_all(v.size());
    const auto norms_bytes = chunks_of(v.size(), bucket) * sizeof(float);
    auto norms = v.pool().allocate(norms_bytes);
    const std::span norm_of{reinterpret_cast<float*>(norms.data()), norms_bytes / sizeof(float)};
    const double squares = norms_of_rows(v.view(), bucket, norm_of);
    if (!std::isfinite(squares))
      finite_max_magnitude(v.view()); // says which element is not
    const auto size = squares == 0 ? 0 : bits(v.size());
    packet p{ssdm_wire_number, std::uint8_t{keeps_norm_}, v.size(), size, v.pool().allocate(whole_bytes(size)), {}};
    if (keeps_norm_ && bucket_ > 0)
      p.recipe = {bucket_};
    if (squares == 0)
      return p;

    auto* signs = p.payload.data();
    if (keeps_norm_)
      signs = std::ranges::copy(norms.bytes(), signs).out;
    draw_signs(norm_of, v.view(), random, step, signs);
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override {
    return elements + (keeps_norm_ ? norm_bits * chunks_of(elements, bucket_or_all(elements)) : 0);
  }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(ssdm_wire_number,
                     sign_packing{.what = sign_packing::kind::random, .sends_magnitudes = keeps_norm_, .row = bucket_});
  }

  double relative_error(std::size_t elements) const override {
    if (!keeps_norm_)
      return std::numeric_limits<double>::infinity();
    const auto largest = std::min<std::uint64_t>(elements, bucket_or_all(elements));
    return elements == 0 ? 0 : static_cast<double>(largest) - 1;
  }

private:
  std::uint64_t bucket_or_all(std::size_t elements) const {
    return bucket_ > 0 ? bucket_ : std::max<std::uint64_t>(elements, 1);
  }

  void draw_signs(std::span<const float> norms, std::span<const float> v, const random_stream& random,
                  std::uint64_t step, std::byte* signs) const {
    std::array<std::uint32_t, sign_block> words;
    element_values norm_of;
    for (std::size_t begin = 0; begin < v.size(); begin += sign_block) {
      const auto part = v.subspan(begin, std::min(sign_block, v.size() - begin));
      random.fill(step, begin, std::span{words}.first(part.size()));
      spread_rows(norms.data(), bucket_or_all(v.size()), begin, part.size(), norm_of);
      draw_sign_bits(part, norm_of, words.data(), signs + begin / 8);
    }
  }

  bool keeps_norm_;
  std::uint64_t bucket_;
};

constexpr auto ssdm_maths =
    R"(sign~(v)_i = 1 if u < p, else -1, where p = 1/2 + 1/2 (v_i / |v|_2) and u = (word >> 8) * 2^-24; word i of the
step belongs to element i. E sign~(v) = v / |v|_2.
norm=dropped: C(v) = sign~(v); v = 0 stays 0.
norm=sent: C(v) = |v|_2 sign~(v); unbiased, and E |C(v) - v|^2 = (d - 1) |v|^2 exactly.
bucket=B: each run of B elements has a norm of its own, so that d above becomes B.
Norms are summed in 64-bit floats and rounded to 32; then p takes one rounding an operation. A norm beyond the largest
float is sent as the largest float. v = 0 is sent in no bits.)";

} // namespace

signed_packet read_ssdm(const packet& p) {
  if (p.parameter > 1)
    throw bad_packet(fmt::format("packet of codec ssdm has parameter {}; allowed: 0 and 1", p.parameter));
  if (p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec ssdm has {} elements; allowed: {}", p.elements, packet_most_elements));
  const bool keeps_norm = p.parameter == 1;
  if (!keeps_norm)
    expect_recipe(p, 0);
  const auto bucket = bucket_of(p);
  const auto buckets = keeps_norm ? chunks_of(p.elements, bucket) : 0;
  expect_bits(p, p.bits == 0 ? 0 : norm_bits * buckets + p.elements);
  if (p.bits == 0)
    return {nullptr, nullptr, bucket};
  const auto* norms = reinterpret_cast<const float*>(p.payload.data());
  for (const float norm : std::span{norms, buckets})
    if (!(std::isfinite(norm) && norm >= 0) || std::signbit(norm))
      throw bad_packet(fmt::format("packet of codec ssdm has the norm {}; it must be finite and not negative", norm));
  return {p.payload.data() + buckets * sizeof(float), keeps_norm ? norms : nullptr, bucket};
}

codec_entry ssdm_codec() {
  return {
      .about = {.name = "ssdm",
                .summary = "random signs, right on average for the direction of the vector",
                .maths = ssdm_maths,
                .reference = "Safaryan, Richtarik: Stochastic sign descent methods: new algorithms and better theory, "
                             "ICML 2021, section 4",
                .cost = "d + 32 bits (32 for each bucket), d when norms are dropped, none when v = 0; two passes "
                        "over v and one random word an element",
                .parameters = {{.key = "norm",
                                .kind = parameter::type::choice,
                                .fallback = "sent",
                                .meaning = "whether the packet holds the norm",
                                .choices = {"sent", "dropped"}},
                               {.key = "bucket",
                                .kind = parameter::type::integer,
                                .fallback = "0",
                                .meaning = "elements that share a norm; 0: all of them",
                                .min = 0,
                                .max = static_cast<double>(packet_most_elements)}}},
      .wire_number = ssdm_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<ssdm>(given.is("norm", "sent"), static_cast<std::uint64_t>(given.integer("bucket")));
      },
      .decode = decode_ssdm,
      .contents = [](const packet& p) { return make_contents(read_ssdm(p)); },
      .examples = {"ssdm", "ssdm:bucket=8", "ssdm:norm=dropped"},
  };
}

} // namespace gossamer::compress::detail
