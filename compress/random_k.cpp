#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/kept_count.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/recipe.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t random_k_wire_number = 11;

std::vector<std::uint64_t> recipe_of(const random_stream& random, std::uint64_t step) {
  return {recipe_word(random), step};
}

/// Draws the places of a packet without places.
places redraw(const packet& p) {
  expect_recipe(p, 2);
  const auto count = read_count(p, 0, 32);
  return draw_exactly(p.payload.pool(), p.elements, count, recipe_stream(p.recipe[0]), p.recipe[1]);
}

vec decode_random_k(const packet& p) {
  return p.parameter == places_redrawn ? decode_without_places(p, redraw(p)) : decode_with_places(p);
}

class random_k final : public codec {
public:
  random_k(kept_count kept, bool unbiased, bool redrawn) : kept_(kept), unbiased_(unbiased), redrawn_(redrawn) {}

  capabilities can() const override {
    return {.unbiased = unbiased_ || kept_.is_all(), .deterministic = kept_.is_all(), .linear = redrawn_};
  }

  std::shared_ptr<const packet_form> form() const override {
    return redrawn_ ? make_form(random_k_wire_number, shared_choice{.looks_at_all = true}) : nullptr;
  }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    finite_max_magnitude(v.view());
    const auto kept = draw_exactly(v.pool(), v.size(), kept_.of(v.size()), random, step);
    if (redrawn_)
      return values_without_places(random_k_wire_number, v, kept, factor(v.size()), recipe_of(random, step));
    return values_with_places(random_k_wire_number, v, kept, factor(v.size()));
  }

  std::uint64_t bits(std::size_t elements) const override {
    return kept_.of(elements) * static_cast<std::uint64_t>(32 + (redrawn_ ? 0 : place_bits(elements)));
  }

  double relative_error(std::size_t elements) const override {
    const double share = kept_.share(elements);
    return unbiased_ ? 1 / share - 1 : 1 - share;
  }

  selection select(std::size_t elements, const random_stream& random, std::uint64_t step) const override {
    auto kept = select_places(draw_exactly({}, elements, kept_.of(elements), random, step), factor(elements));
    kept.parameter = places_redrawn;
    kept.recipe = recipe_of(random, step);
    return kept;
  }

private:
  float factor(std::size_t elements) const { return unbiased_ ? static_cast<float>(1 / kept_.share(elements)) : 1; }

  kept_count kept_;
  bool unbiased_, redrawn_;
};

std::vector<parameter> parameters() {
  auto result = kept_count::parameters();
  result.push_back(scale_parameter("d/k"));
  result.push_back(indices_parameter());
  return result;
}

} // namespace

selection read_random_k(const packet& p) { return select_places(redraw(p), 1); }

namespace {

std::shared_ptr<const packet_contents> contents_of_random_k(const packet& p) {
  return p.parameter == places_redrawn ? contents_without_places(p, read_random_k(p)) : contents_with_places(p);
}

} // namespace

codec_entry random_k_codec() {
  return {
      .about = {.name = "random-k",
                .summary = "sends k elements, chosen at random",
                .maths = R"(C(v)_i = f v_i for k different i, all sets of k equally likely; 0 for all others.
f = d/k (scale=unbiased) or 1 (scale=none). k = min(d, max(1, floor(fraction d + 1/2))) unless it is given.
E |C(v) - v|^2 = (d/k - 1) |v|^2 (scale=unbiased) or (1 - k/d) |v|^2 (scale=none).
What would exceed the largest float becomes the largest float.)",
                .reference = "Stich, Cordonnier, Jaggi: Sparsified SGD with memory, NeurIPS 2018",
                .cost =
                    "k (32 + ceil(log2 d)) bits, or 32 k bits with indices=seed; one pass over v, k random words and "
                    "d bits of scratch memory",
                .parameters = parameters()},
      .wire_number = random_k_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<random_k>(kept_count{given}, given.is("scale", "unbiased"),
                                          given.is("indices", "seed"));
      },
      .decode = decode_random_k,
      .contents = contents_of_random_k,
      .examples = {"random-k:k=5", "random-k:k=30,indices=seed"},
  };
}

} // namespace gossamer::compress::detail
