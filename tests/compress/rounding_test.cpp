// Rounding with 16 random bits an element, against its definition in docs/codecs.md.
#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/detail/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "support/each_instruction_set.hpp"

namespace gossamer::compress {
namespace {

const random_stream randomness{12, 3, purpose::quantise};
constexpr std::array<std::size_t, 15> sizes{0, 1, 2, 3, 15, 16, 17, 31, 33, 64, 1000, 2047, 2048, 2049, 5001};

/// (half + 1/2) * 2^-16, with the names of the definition.
float uniform_of_half(std::uint64_t step, std::uint64_t i) {
  const auto key = randomness.key();
  const random_stream halves{key[0] | std::uint64_t{key[1]} << 32, 0, purpose::halves};
  const auto word = halves.word(step, i / 2);
  return (static_cast<float>(i % 2 == 0 ? word & 0xFFFFu : word >> 16) + 0.5f) * 0x1p-16f;
}

std::vector<float> many_values(std::size_t size) {
  std::vector<float> v(size);
  random_sequence random{{13, 0, purpose::synthetic}, size};
  for (float& x : v)
    x = static_cast<float>(random.normal());
  constexpr std::array special{0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), 1e-30f};
  for (std::size_t i = 2; i < size; i += 7)
    v[i] = special[i % special.size()];
  return v;
}

class halves_on : public test::each_instruction_set {};

TEST_P(halves_on, round_as_defined) {
  buffer_pool pool;
  for (const auto size : sizes)
    for (int bits : {2, 5, 8, 9, 16}) {
      const vec v{pool, many_values(size)};
      const auto decoded =
          decode(make_codec("uniform:rounding=16,bits=" + std::to_string(bits))->encode(v, randomness, size));
      const float delta = detail::uniform_scale(max_magnitude(v.view()), bits);
      for (std::size_t i = 0; i < size; ++i) {
        const float y = delta == 0 ? 0 : v[i] * (1 / delta), f = std::floor(y);
        const float top = detail::uniform_top(bits);
        const float k = std::clamp(f + (uniform_of_half(size, i) < y - f ? 1.0f : 0.0f), -top, top);
        ASSERT_EQ(decoded[i], k * delta) << i << " of " << size << ", " << bits << " bits";
      }
    }
}

TEST_P(halves_on, give_the_codes_of_the_words_that_they_stand_for) {
  detail::level_bits halves{.words = {}, .halved = true}, words{.words = {}, .halved = false};
  randomness.fill(1, 0, halves.words);
  for (std::size_t i = 0; i < detail::level_block; ++i)
    words.words[i] = halves.word(i);
  for (const auto size : sizes)
    for (int bits : {1, 3, 8, 11, 16})
      for (std::size_t first : {0u, 1u, 7u, 30u}) {
        const auto v = many_values(std::min(size, detail::level_block - first));
        const auto range = detail::range_of(v);
        for (const auto& grid : {detail::uniform_grid(0.1f, bits), detail::norm_grid(2, 3),
                                 v.empty() ? detail::level_grid{} : detail::range_grid(range, bits)}) {
          detail::level_codes expected{}, codes{};
          detail::quantise_levels(bits, grid, v, words, expected, first);
          detail::quantise_levels(bits, grid, v, halves, codes, first);
          ASSERT_TRUE(std::ranges::equal(codes.bytes, expected.bytes)) << size << " from " << first << ", " << bits;
        }
      }
}

// The whole probability: each half occurs once.
TEST_P(halves_on, are_wrong_by_half_of_2_to_the_minus_16_at_most) {
  const auto grid = detail::uniform_grid(1, 8);
  for (float fraction : {0.0f, 0x1p-24f, 0x1p-18f, 0x1p-17f, 0x1p-16f, 0.1f, 0.25f, 0.5f, 0.7f, 0.99999f}) {
    std::size_t up = 0;
    detail::level_bits random{.words = {}, .halved = true};
    const std::vector<float> v(detail::level_block, 3 + fraction);
    for (std::uint32_t half = 0; half < 0x10000u; half += detail::level_block) {
      for (std::uint32_t i = 0; i < detail::level_block; i += 2)
        random.words[i / 2] = (half + i) | (half + i + 1) << 16;
      detail::level_codes codes;
      detail::quantise_levels(8, grid, v, random, codes, 0);
      up += static_cast<std::size_t>(std::ranges::count(std::span{codes.bytes}.first(v.size()), std::byte{4}));
    }
    EXPECT_NEAR(static_cast<double>(up) / 0x10000, static_cast<double>(v[0]) - 3, 0x1p-17) << fraction;
  }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, halves_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

TEST(halves, belong_to_an_element_of_a_step_whatever_is_behind_it) {
  buffer_pool pool;
  const auto values = many_values(5001);
  for (const std::string spec : {"fixed-grid:rounding=16,step=0.1,bits=16", "fixed-grid:rounding=16,step=1e-5,bits=23",
                                 "qsgd:rounding=16,bucket=1", "min-max:rounding=16,chunk=1"}) {
    const auto codec = make_codec(spec);
    const auto all = decode(codec->encode(vec{pool, values}, randomness, 9));
    for (const auto size : sizes) {
      const auto some = decode(codec->encode(vec{pool, std::span{values}.first(size)}, randomness, 9));
      ASSERT_TRUE(std::ranges::equal(some.view(), all.view().first(size))) << spec << " " << size;
    }
  }
}

TEST(halves, round_wide_codes_as_defined) {
  buffer_pool pool;
  const vec v{pool, many_values(5001)};
  const float step = 1e-5f;
  const auto decoded = decode(make_codec("fixed-grid:rounding=16,step=1e-5,bits=23")->encode(v, randomness, 2));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const float y = v[i] * (1 / step), f = std::floor(y);
    ASSERT_EQ(decoded[i], (f + (uniform_of_half(2, i) < y - f ? 1.0f : 0.0f)) * step) << i;
  }
}

TEST(halves, say_the_same_in_every_code_of_qsgd) {
  buffer_pool pool;
  const vec v{pool, many_values(3000)};
  const auto fixed = decode(make_codec("qsgd:rounding=16")->encode(v, randomness, 4));
  for (const char* code : {"elias-sparse", "elias-dense"})
    EXPECT_EQ(decode(make_codec(std::string{"qsgd:rounding=16,code="} + code)->encode(v, randomness, 4)), fixed);
}

// Numbers that choose and numbers that round are never the same, and the default spelling has not changed.
TEST(halves, are_another_stream_than_words) {
  buffer_pool pool;
  const vec v{pool, many_values(1000)};
  for (const std::string name : {"uniform", "fixed-grid", "qsgd", "terngrad"}) {
    const auto of = [&](const std::string& spec) { return decode(make_codec(spec)->encode(v, randomness, 4)); };
    EXPECT_EQ(of(name), of(name + ":rounding=32"));
    EXPECT_NE(of(name), of(name + ":rounding=16"));
  }
}

} // namespace
} // namespace gossamer::compress
