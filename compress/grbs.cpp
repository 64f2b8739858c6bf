#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/places.hpp"
#include "gossamer/compress/detail/recipe.hpp"
#include "gossamer/compress/detail/shared_masks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t grbs_wire_number = 12;
constexpr std::uint8_t layout_flat = 0, layout_tensor = 1;
constexpr std::size_t fixed_words = 5; // in a recipe of layout=tensor; one more for each tensor
constexpr std::size_t most_tensors = 255 - fixed_words;

/// Copies the ranges, and looks for elements that are not finite in the copies alone, which are still in the cache.
void gather(const vec& v, std::span<const selection::range> ranges, std::span<float> out) {
  constexpr std::size_t block = 4096;
  std::size_t copied = 0, checked = 0;
  const auto check = [&] {
    if (!std::isfinite(max_magnitude(out.subspan(checked, copied - checked))))
      finite_max_magnitude(v.view());
    checked = copied;
  };
  for (const auto& r : ranges)
    for (std::size_t done = 0; done < r.size;) {
      const auto size = std::min(block - (copied - checked), r.size - done);
      std::memcpy(out.data() + copied, v.data() + r.begin + done, size * sizeof(float));
      done += size;
      copied += size;
      if (copied - checked == block)
        check();
    }
  check();
}

packet encode_selection(const vec& v, selection kept) {
  const auto size = kept.size();
  packet p{grbs_wire_number,      kept.parameter, v.size(), 32 * size, v.pool().allocate(size * sizeof(float)),
           std::move(kept.recipe)};
  gather(v, kept.ranges, {reinterpret_cast<float*>(p.payload.data()), size});
  return p;
}

vec decode_ranges(const packet& p, std::span<const selection::range> ranges) {
  const auto* next = reinterpret_cast<const float*>(p.payload.data());
  if (!std::isfinite(max_magnitude({next, p.payload.size() / sizeof(float)})))
    throw bad_packet("packet of codec grbs holds a value that is not finite");
  vec v{p.payload.pool().allocate(p.elements * sizeof(float))};
  const auto out = v.overwrite();
  std::size_t end = 0;
  for (const auto& r : ranges) {
    std::ranges::fill(out.subspan(end, r.begin - end), 0.0f);
    std::memcpy(out.data() + r.begin, next, r.size * sizeof(float));
    next += r.size;
    end = r.begin + r.size;
  }
  std::ranges::fill(out.subspan(end), 0.0f);
  return v;
}

selection read_flat(const packet& p) {
  expect_recipe(p, 4);
  const block_mask mask{p.recipe[2], p.recipe[3]};
  const bool some = p.elements > 0;
  if (mask.blocks > p.elements || mask.kept > mask.blocks || (mask.kept > 0) != some || (mask.blocks > 0) != some)
    throw bad_packet(
        fmt::format("packet of codec grbs keeps {} of {} blocks of {} elements", mask.kept, mask.blocks, p.elements));
  // A payload of the wrong size is refused before the mask is drawn.
  if (some && (p.bits / 32 < mask.kept * (p.elements / mask.blocks) || p.bits / 32 > mask.most(p.elements)))
    throw bad_packet(fmt::format("packet of codec grbs has {} bits, not those of {} blocks", p.bits, mask.kept));
  selection kept{mask.draw(p.payload.pool(), p.elements, recipe_stream(p.recipe[0]), p.recipe[1])};
  expect_bits(p, 32 * std::uint64_t{kept.size()});
  return kept;
}

/// Reads the shapes at the end of a recipe.
std::vector<tensor_shape> read_tensors(const packet& p) {
  std::vector<tensor_shape> tensors;
  std::uint64_t left = p.elements;
  for (const auto word : std::span{p.recipe}.subspan(fixed_words)) {
    const tensor_shape tensor{word & 0xFFFFFFFFu, word >> 32};
    if (tensor.size() == 0 || tensor.size() > left)
      throw bad_packet(fmt::format("packet of codec grbs with {} elements has a tensor of {} x {} where {} are left",
                                   p.elements, tensor.rows, tensor.columns, left));
    left -= tensor.size();
    tensors.push_back(tensor);
  }
  if (left > 0)
    throw bad_packet(fmt::format("packet of codec grbs has {} elements in no tensor", left));
  return tensors;
}

std::size_t size_of(std::span<const band_mask::bands> tensors) {
  return std::transform_reduce(tensors.begin(), tensors.end(), std::size_t{0}, std::plus{},
                               [](const auto& bands) { return bands.size(); });
}

selection read_tensor(const packet& p) {
  if (p.recipe.size() < fixed_words)
    expect_recipe(p, fixed_words);
  const auto ratio = [&](std::size_t word) {
    const auto value = std::bit_cast<double>(p.recipe[word]);
    if (!(value >= 1 && std::isfinite(value)))
      throw bad_packet(fmt::format("packet of codec grbs has the ratio {}; it must be finite and at least 1", value));
    return value;
  };
  const band_mask mask{ratio(2), ratio(3), ratio(4)};
  const auto bands = mask.draw(read_tensors(p), recipe_stream(p.recipe[0]), p.recipe[1]);
  expect_bits(p, 32 * std::uint64_t{size_of(bands)});
  return {ranges_of(bands)};
}

vec decode_grbs(const packet& p) { return decode_ranges(p, read_grbs(p).ranges); }

class grbs_flat final : public codec {
public:
  grbs_flat(double ratio, std::size_t blocks) : ratio_(ratio), blocks_(blocks) {}

  capabilities can() const override {
    const bool all = ratio_ == 1;
    return {.exact = all, .unbiased = all, .deterministic = all, .fixed_size = all, .linear = true};
  }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(grbs_wire_number, shared_choice{.looks_at_all = false});
  }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    return encode_selection(v, select_from(v.pool(), v.size(), random, step));
  }

  std::uint64_t bits(std::size_t elements) const override {
    return 32 * std::uint64_t{mask_of(elements).most(elements)};
  }

  double relative_error(std::size_t elements) const override {
    const auto mask = mask_of(elements);
    return elements == 0 ? 0 : 1 - static_cast<double>(mask.kept) / static_cast<double>(mask.blocks);
  }

  selection select(std::size_t elements, const random_stream& random, std::uint64_t step) const override {
    return select_from({}, elements, random, step);
  }

private:
  selection select_from(buffer_pool pool, std::size_t elements, const random_stream& random, std::uint64_t step) const {
    const auto mask = mask_of(elements);
    return {.ranges = mask.draw(std::move(pool), elements, random, step),
            .parameter = layout_flat,
            .recipe = {recipe_word(random), step, mask.blocks, mask.kept}};
  }

  block_mask mask_of(std::size_t elements) const {
    const auto blocks = std::min(elements, blocks_);
    const auto kept = static_cast<std::size_t>(std::floor(static_cast<double>(blocks) / ratio_ + 0.5));
    return {blocks, std::min(blocks, std::max<std::size_t>(1, kept))};
  }

  double ratio_;
  std::size_t blocks_;
};

class grbs_tensor final : public codec {
public:
  grbs_tensor(band_mask mask, std::span<const tensor_shape> tensors) : mask_(mask) {
    std::ranges::copy_if(tensors, std::back_inserter(tensors_), [](const auto& t) { return t.size() > 0; });
  }

  capabilities can() const override {
    const bool all = mask_.row_ratio == 1 && mask_.column_ratio == 1 && mask_.layer_ratio == 1;
    return {.exact = all,
            .unbiased = all,
            .deterministic = all,
            .fixed_size = mask_.layer_ratio == 1,
            .linear = true,
            .whole_vectors = true};
  }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(grbs_wire_number, shared_choice{.looks_at_all = false});
  }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    return encode_selection(v, select(v.size(), random, step));
  }

  std::uint64_t bits(std::size_t elements) const override {
    std::uint64_t kept = 0;
    for (const auto& tensor : tensors_of(elements))
      kept += mask_.sizes(tensor).size();
    return 32 * kept;
  }

  double relative_error(std::size_t elements) const override {
    double least = 1; // the smallest probability that an element is kept
    for (const auto& tensor : tensors_of(elements))
      least = std::min(least, static_cast<double>(mask_.sizes(tensor).size()) / static_cast<double>(tensor.size()));
    return elements == 0 ? 0 : 1 - least / mask_.layer_ratio;
  }

  selection select(std::size_t elements, const random_stream& random, std::uint64_t step) const override {
    const auto tensors = tensors_of(elements);
    std::vector<std::uint64_t> recipe{recipe_word(random), step};
    for (const double ratio : {mask_.row_ratio, mask_.column_ratio, mask_.layer_ratio})
      recipe.push_back(std::bit_cast<std::uint64_t>(ratio));
    for (const auto& tensor : tensors)
      recipe.push_back(tensor.rows | std::uint64_t{tensor.columns} << 32);
    return {.ranges = ranges_of(mask_.draw(tensors, random, step)),
            .parameter = layout_tensor,
            .recipe = std::move(recipe)};
  }

private:
  std::vector<tensor_shape> tensors_of(std::size_t elements) const {
    if (tensors_.empty())
      return elements == 0 ? std::vector<tensor_shape>{} : std::vector{tensor_shape{1, elements}};
    const auto size = std::transform_reduce(tensors_.begin(), tensors_.end(), std::size_t{0}, std::plus{},
                                            [](const auto& t) { return t.size(); });
    if (size != elements)
      throw error(errc::usage,
                  fmt::format("grbs:layout=tensor is given {} elements, and the tensors that it was made for have {}",
                              elements, size),
                  "encode the whole vector, or use layout=flat");
    return tensors_;
  }

  band_mask mask_;
  std::vector<tensor_shape> tensors_;
};

error refused(std::string sentence, std::string remedy) {
  return {errc::usage, fmt::format("codec 'grbs' has {}", sentence), std::move(remedy)};
}

std::unique_ptr<codec> make_grbs(const arguments& given, std::span<const tensor_shape> tensors) {
  const double ratio = given.real("ratio"), column_ratio = given.real("column-ratio"),
               layer_ratio = given.real("layer-ratio");
  const auto blocks = given.integer("blocks");
  if (given.is("layout", "flat")) {
    if (column_ratio != 1 || layer_ratio != 1)
      throw refused("a column-ratio or layer-ratio with layout=flat", "they belong to layout=tensor");
    if (blocks != 0 && static_cast<double>(blocks) < ratio)
      throw refused(fmt::format("{} blocks, fewer than its ratio {}", blocks, ratio),
                    "allowed: 0, or at least as many blocks as the ratio");
    return std::make_unique<grbs_flat>(
        ratio, static_cast<std::size_t>(blocks == 0 ? static_cast<std::int64_t>(std::ceil(64 * ratio)) : blocks));
  }
  if (blocks != 0)
    throw refused("blocks with layout=tensor", "they belong to layout=flat");
  if (column_ratio * layer_ratio > ratio)
    throw refused(fmt::format("ratio {}, less than column-ratio * layer-ratio", ratio),
                  "what remains of the ratio is that of the rows, at least 1");
  if (tensors.size() > most_tensors)
    throw refused(fmt::format("{} tensors with layout=tensor", tensors.size()),
                  fmt::format("allowed: {}; use layout=flat", most_tensors));
  return std::make_unique<grbs_tensor>(band_mask{ratio / (column_ratio * layer_ratio), column_ratio, layer_ratio},
                                       tensors);
}

constexpr auto grbs_maths =
    R"(C(v)_i = v_i for the elements of a random mask, which all workers draw alike; 0 for all others.
layout=flat: element i is of block j if floor(j d / B) <= i < floor((j + 1) d / B). max(1, floor(B / R + 1/2)) different
blocks of the B are kept, all sets equally likely. B = blocks, or ceil(64 R) if that is 0; at most d.
E |C(v) - v|^2 = (1 - kept / B) |v|^2.
layout=tensor: of each tensor, rows from r and columns from c on are kept, wrapping around, with r and c uniform;
max(1, floor(rows / R_row + 1/2)) rows, and likewise columns with R_column; and each tensor as a whole with
probability 1 / R_layer. R = R_row R_column R_layer. A tensor of one row is taken for one of one column.
E |C(v) - v|^2 <= (1 - c / R_layer) |v|^2, c the least share that is kept of a tensor which is kept at all.
Algorithms that cut vectors into parts before they encode them need layout=flat.)";

} // namespace

selection read_grbs(const packet& p) {
  if (p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec grbs has {} elements; allowed: {}", p.elements, packet_most_elements));
  if (p.parameter > layout_tensor)
    throw bad_packet(fmt::format("packet of codec grbs has the unknown layout {}", p.parameter));
  return p.parameter == layout_flat ? read_flat(p) : read_tensor(p);
}

codec_entry grbs_codec() {
  return {
      .about =
          {.name = "grbs",
           .summary = "sends blocks of the vector that all workers choose alike, so that they can be added up",
           .maths = grbs_maths,
           .reference = "Xie, Zheng, Koyejo, Gupta, Li, Lin: CSER: communication-efficient SGD with error reset, "
                        "NeurIPS 2020, definition 2",
           .cost = "32 bits for each element that is kept, about d / R; one pass over these. The others are not "
                   "read: whether they are finite is not checked",
           .parameters =
               {{.key = "ratio", .fallback = "16", .meaning = "R: one in R elements is kept", .min = 1, .max = 1e9},
                {.key = "layout",
                 .kind = parameter::type::choice,
                 .fallback = "flat",
                 .meaning = "whether blocks are kept of the whole vector, or bands of each tensor",
                 .choices = {"flat", "tensor"}},
                {.key = "blocks",
                 .kind = parameter::type::integer,
                 .fallback = "0",
                 .meaning = "B of layout=flat, at least the ratio; 0: 64 times the ratio",
                 .min = 0},
                {.key = "column-ratio", .fallback = "1", .meaning = "R_column of layout=tensor", .min = 1},
                {.key = "layer-ratio",
                 .fallback = "1",
                 .meaning = "R_layer of layout=tensor; R_row is what remains of the ratio",
                 .min = 1}}},
      .wire_number = grbs_wire_number,
      .make = make_grbs,
      .decode = decode_grbs,
      .contents = [](const packet& p) { return contents_without_places(p, read_grbs(p)); },
      .examples = {"grbs:ratio=3", "grbs:ratio=3,blocks=5", "grbs:ratio=4,layout=tensor,layer-ratio=2"},
  };
}

} // namespace gossamer::compress::detail
