#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/recipe.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t random_p_wire_number = 8;
constexpr std::uint32_t certain = 1u << 24;

vec decode_random_p(const packet& p) {
  if (p.parameter != places_redrawn)
    return decode_with_places(p);
  expect_recipe(p, 3);
  const auto threshold = p.recipe[2];
  if (threshold < 1 || threshold > certain)
    throw bad_packet(
        fmt::format("packet of codec random-p has the threshold {}; allowed: 1 to {}", threshold, certain));
  read_count(p, 0, 32);
  return decode_without_places(p, draw_each(p.payload.pool(), p.elements, static_cast<std::uint32_t>(threshold),
                                            recipe_stream(p.recipe[0]), p.recipe[1]));
}

class random_p final : public codec {
public:
  random_p(double p, bool unbiased, bool redrawn)
      : threshold_(static_cast<std::uint32_t>(std::ceil(p * certain))), unbiased_(unbiased), redrawn_(redrawn) {}

  capabilities can() const override {
    const bool all = threshold_ == certain;
    return {.unbiased = unbiased_ || all, .deterministic = all, .fixed_size = all && redrawn_, .linear = redrawn_};
  }

  std::shared_ptr<const packet_form> form() const override {
    return redrawn_ ? make_form(random_p_wire_number, shared_choice{.looks_at_all = true}) : nullptr;
  }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    if (redrawn_) {
      finite_max_magnitude(v.view());
      return values_without_places(random_p_wire_number, v, draw_each(v.pool(), v.size(), threshold_, random, step),
                                   factor(), recipe_of(random, step));
    }
    random_marks marks{threshold_, random, step};
    auto [kept, values] = keep_some<random_marks::block>(v, [&](auto block, auto first, auto to) {
      if (!std::isfinite(max_magnitude(block))) // while it is in the cache
        finite_max_magnitude(v.view());
      return keep_marked(block, marks.draw(first, block.size()), static_cast<std::uint32_t>(first), to);
    });
    scale_finite(values.mutate(), factor());
    return values_with_places(random_p_wire_number, v.size(), kept, values.view());
  }

  std::uint64_t bits(std::size_t elements) const override {
    return elements * static_cast<std::uint64_t>(32 + (redrawn_ ? 0 : place_bits(elements)));
  }

  double relative_error(std::size_t) const override { return unbiased_ ? 1 / probability() - 1 : 1 - probability(); }

  selection select(std::size_t elements, const random_stream& random, std::uint64_t step) const override {
    auto kept = select_places(draw_each({}, elements, threshold_, random, step), factor());
    kept.parameter = places_redrawn;
    kept.recipe = recipe_of(random, step);
    return kept;
  }

private:
  std::vector<std::uint64_t> recipe_of(const random_stream& random, std::uint64_t step) const {
    return {recipe_word(random), step, threshold_};
  }
  double probability() const { return static_cast<double>(threshold_) / certain; }
  float factor() const { return unbiased_ ? static_cast<float>(1 / probability()) : 1; }

  std::uint32_t threshold_;
  bool unbiased_, redrawn_;
};

} // namespace

codec_entry random_p_codec() {
  return {
      .about =
          {.name = "random-p",
           .summary = "sends each element with probability p",
           .maths = R"(C(v)_i = f v_i if u_i < p, else 0; f = 1/p (scale=unbiased) or 1 (scale=none).
p is rounded up to a multiple of 2^-24. Digit k of the binary number u_i, from the first behind the point on, is bit
i mod 32 of word k 2^57 + i / 32 of the step; only as many are drawn as decide.
E |C(v) - v|^2 = (1/p - 1) |v|^2 (scale=unbiased) or (1 - p) |v|^2 (scale=none).
What would exceed the largest float becomes the largest float.)",
           .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, "
                        "NeurIPS 2018, footnote 2",
           .cost =
               "n (32 + ceil(log2 d)) bits for the n elements that are kept and not 0, about p d of them; with "
               "indices=seed 32 bits for each that is kept. Two passes over v and about 0.4 random words an element",
           .parameters = {{.key = "p",
                           .fallback = "0.1",
                           .meaning = "probability with which an element is kept",
                           .min = 1e-6,
                           .max = 1},
                          scale_parameter("1/p"),
                          indices_parameter()}},
      .wire_number = random_p_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<random_p>(given.real("p"), given.is("scale", "unbiased"), given.is("indices", "seed"));
      },
      .decode = decode_random_p,
      .contents = contents_with_places,
      .examples = {"random-p:p=0.25", "random-p:p=0.25,indices=seed"},
  };
}

} // namespace gossamer::compress::detail
