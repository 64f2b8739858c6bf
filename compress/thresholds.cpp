#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/uneven_levels.hpp"
#include "gossamer/compress/detail/value_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t thresholds_wire_number = 4;
constexpr std::size_t most_given_levels = 256; // so that a code fits a byte

/// Increasing from 0 to 1. The inner levels travel in the recipe, a float in the low half of each word.
using level_list = std::vector<float>;

bool increases(const level_list& levels) {
  return levels.size() >= 2 && levels.size() <= most_given_levels && levels.front() == 0 && levels.back() == 1
         && std::ranges::adjacent_find(levels, [](float a, float b) { return !(a < b); }) == levels.end();
}

int code_bits_for(std::size_t levels) { return static_cast<int>(std::bit_width(levels - 1)); }

std::uint64_t size_in_bits(std::size_t levels, std::uint64_t elements) {
  return range_bits + static_cast<std::uint64_t>(code_bits_for(levels)) * elements;
}

/// Values of the levels of [0, 1] in a range: counted from the middle so that nothing overflows.
level_list values_of(const level_list& levels, const value_range& range) {
  level_list values(levels.size());
  const float half = half_of(range), middle = middle_of(range);
  std::ranges::transform(levels, values.begin(), [&](float level) {
    return std::clamp(middle + (2 * level - 1) * half, range.low, range.high);
  });
  values.front() = range.low;
  values.back() = range.high;
  return values;
}

level_list levels_of(const packet& p) {
  if (p.recipe.size() > most_given_levels - 2)
    throw bad_packet(fmt::format("packet of codec thresholds has {} levels; allowed: 2 to {}", p.recipe.size() + 2,
                                 most_given_levels));
  level_list levels{0};
  for (const auto word : p.recipe)
    levels.push_back(word >> 32 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(word)) : -1);
  levels.push_back(1);
  if (!increases(levels))
    throw bad_packet("packet of codec thresholds has levels that do not increase from 0 to 1");
  return levels;
}

vec decode_thresholds(const packet& p) {
  const auto levels = levels_of(p);
  if (p.parameter != 0 || p.elements > packet_most_elements)
    throw bad_packet(fmt::format("packet of codec thresholds has parameter {} and {} elements; allowed: 0 and up to {}",
                                 p.parameter, p.elements, packet_most_elements));
  expect_bits(p, size_in_bits(levels.size(), p.elements));
  const auto values = values_of(levels, read_range(p.payload.data()));
  vec v{p.payload.pool().allocate(p.elements * sizeof(float))};
  const int bits = code_bits_for(levels.size());
  const auto elements = v.overwrite();
  level_codes codes;
  for (std::size_t begin = 0; begin < elements.size(); begin += level_block) {
    const auto block = elements.subspan(begin, std::min(level_block, elements.size() - begin));
    unpack_levels(bits, p.payload.data() + range_bits / 8 + code_bytes(bits, begin), block.size(), codes);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto code = std::to_integer<std::size_t>(codes.bytes[i]);
      if (code >= values.size())
        throw bad_packet(fmt::format("packet of codec thresholds holds the code {} of {} levels", code, values.size()));
      block[i] = values[code];
    }
  }
  return v;
}

class thresholds final : public codec {
public:
  explicit thresholds(level_list levels) : levels_(std::move(levels)) {
    for (std::size_t j = 1; j + 1 < levels_.size(); ++j)
      recipe_.push_back(std::bit_cast<std::uint32_t>(levels_[j]));
  }

  capabilities can() const override { return {.unbiased = true}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    const auto range = v.empty() ? value_range{0, 0} : finite_range_of(v.view(), v.view());
    const auto size = bits(v.size());
    packet p{.codec = thresholds_wire_number,
             .elements = v.size(),
             .bits = size,
             .payload = v.pool().allocate(whole_bytes(size)),
             .recipe = recipe_};
    write_range(range, p.payload.data());
    const uneven_levels values{values_of(levels_, range)};
    const int width = code_bits_for(levels_.size());
    std::array<std::uint32_t, level_block> words;
    level_codes codes;
    for (std::size_t begin = 0; begin < v.size(); begin += level_block) {
      const auto block = v.view().subspan(begin, std::min(level_block, v.size() - begin));
      random.fill(step, begin, std::span{words}.first(block.size()));
      round_to_levels(values, block, words.data(), codes);
      pack_levels(width, codes, block.size(), p.payload.data() + range_bits / 8 + code_bytes(width, begin));
    }
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return size_in_bits(levels_.size(), elements); }

  double relative_error(std::size_t elements) const override {
    double gap = 0;
    for (std::size_t j = 1; j < levels_.size(); ++j)
      gap = std::max(gap, static_cast<double>(levels_[j]) - static_cast<double>(levels_[j - 1]));
    return range_relative_error(elements, gap);
  }

private:
  level_list levels_;
  std::vector<std::uint64_t> recipe_;
};

level_list parse_levels(const std::string& text) {
  level_list levels;
  for (const auto& item : split(text, '+'))
    levels.push_back(static_cast<float>(parse_real("levels of codec 'thresholds'", item, 0, 1)));
  if (!increases(levels))
    throw error(errc::usage, fmt::format("levels of codec 'thresholds' are {}", text),
                fmt::format("allowed: 2 to {} numbers that increase from 0 to 1, joined by '+'", most_given_levels));
  return levels;
}

constexpr auto thresholds_maths =
    R"(lo = min v_i, hi = max v_i; levels 0 = T_0 < ... < T_m = 1 stand for V_j = lo + T_j (hi - lo).
V_j <= v_i < V_(j+1) goes up to V_(j+1) with probability (v_i - V_j) / (V_(j+1) - V_j), else down to V_j.
Up if u < that, u = (word >> 8) * 2^-24, where word i of the step belongs to element i. The ends are exact.
(The paper's footnote has the two probabilities of its example swapped: between 0.3 and 0.8, 0.5 goes to 0.8 in 4 cases
of 10, or it would be biased.)
E |C(v) - v|^2 = sum (v_i - V_j) (V_(j+1) - v_i); at most d g^2 (hi - lo)^2 / 4, g the greatest gap of levels.)";

} // namespace

codec_entry thresholds_codec() {
  return {
      .about = {.name = "thresholds",
                .summary = "stochastic rounding to levels of any spacing between the least and the greatest element",
                .maths = thresholds_maths,
                .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, "
                             "NeurIPS 2018, footnote 1",
                .cost = "64 + d ceil(log2(m + 1)) bits; the levels are common knowledge and not counted; two passes "
                        "over v, log2(m) comparisons and one random word an element",
                .parameters = {{.key = "levels",
                                .kind = parameter::type::text,
                                .fallback = "0+0.3+0.8+1",
                                .meaning = "where the levels lie, increasing from 0 (least element) to 1 (greatest)"}}},
      .wire_number = thresholds_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<thresholds>(parse_levels(given.text("levels")));
      },
      .decode = decode_thresholds,
      .examples = {"thresholds"},
  };
}

} // namespace gossamer::compress::detail
