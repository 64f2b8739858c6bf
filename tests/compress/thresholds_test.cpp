#include "gossamer/compress/detail/uneven_levels.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "support/codecs.hpp"
#include "support/each_instruction_set.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{7, 0, purpose::quantise};
constexpr auto largest = std::numeric_limits<float>::max();

// The example of the paper's footnote, with the probabilities that make it unbiased.
TEST(thresholds, goes_up_in_proportion_to_the_distance_from_below) {
  buffer_pool pool;
  std::vector<float> values(10'002, 0.5f);
  values.front() = 0;
  values.back() = 1;
  const auto decoded = decode(make_codec("thresholds")->encode(vec{pool, values}, randomness, 0));
  EXPECT_EQ(decoded[0], 0);
  EXPECT_EQ(decoded[10'001], 1);
  int up = 0;
  for (float x : decoded.view().subspan(1, 10'000)) {
    const bool above = std::fabs(x - 0.8f) < 1e-6f;
    ASSERT_TRUE(above || std::fabs(x - 0.3f) < 1e-6f) << x;
    up += above;
  }
  EXPECT_NEAR(up, 4000, 4.5 * std::sqrt(10'000 * 0.4 * 0.6));
}

TEST(thresholds, has_the_error_of_its_formula) {
  buffer_pool pool;
  const vec v = test::random_vector(pool, 1000);
  const auto [lo, hi] = std::ranges::minmax(v.view());
  const auto codec = make_codec("thresholds:levels=0+0.1+0.25+0.6+1");
  double expected = 0;
  for (float x : v.view()) {
    const double t = static_cast<double>((x - lo) / (hi - lo));
    double below = 0, above = 1;
    for (double level : {0.1, 0.25, 0.6})
      (level <= t ? below : above) = level <= t ? std::max(below, level) : std::min(above, level);
    expected += (t - below) * (above - t) * std::pow(static_cast<double>(hi - lo), 2);
  }
  EXPECT_NEAR(test::mean_square_error(*codec, v, randomness, 300), expected, 0.03 * expected);
  EXPECT_LE(expected, codec->relative_error(1000) * sum_of_squares(v.view()));
}

TEST(thresholds, sends_codes_that_count_the_levels) {
  buffer_pool pool;
  const vec v = test::random_vector(pool, 1000);
  std::string many = "0";
  for (int j = 1; j < 255; ++j)
    many.append("+").append(std::to_string(j / 255.0));
  for (const auto& [levels, bits] : {std::pair<std::string, unsigned>{"0+1", 1},
                                     {"0+0.5+1", 2},
                                     {"0+0.3+0.8+1", 2},
                                     {"0+1e-3+0.2+0.3+1", 3},
                                     {many.append("+1"), 8}}) {
    const auto codec = make_codec("thresholds:levels=" + levels);
    const auto p = codec->encode(v, randomness, 0);
    EXPECT_EQ(p.bits, 64 + 1000 * bits);
    EXPECT_EQ(decode(p).size(), 1000u);
  }
}

TEST(thresholds, represents_a_range_that_overflows) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>{-largest, largest, 0, 0.5f * largest}};
  for (const char* levels : {"0+1", "0+0.3+0.8+1", "0+0.5+0.75+1"}) {
    const auto decoded = decode(make_codec("thresholds:levels=" + std::string{levels})->encode(v, randomness, 0));
    EXPECT_TRUE(std::ranges::all_of(decoded.view(), [](float x) { return std::isfinite(x); }));
    EXPECT_EQ(decoded[0], -largest);
    EXPECT_EQ(decoded[1], largest);
  }
  EXPECT_EQ(decode(make_codec("thresholds:levels=0+0.5+0.75+1")->encode(v, randomness, 0)), v);
}

TEST(thresholds, wants_levels_that_increase_from_0_to_1) {
  for (const char* levels :
       {"0", "1", "0+2", "0+0.5", "0.5+1", "0+0.5+0.5+1", "0+0.6+0.5+1", "0+x+1", "-0.1+1", "", "0+nan+1"})
    try {
      std::ignore = make_codec("thresholds:levels=" + std::string{levels});
      ADD_FAILURE() << levels;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage) << levels;
      EXPECT_THAT(e.sentence(), HasSubstr("levels of codec 'thresholds'"));
    }
}

TEST(thresholds, refuses_what_no_encoder_sends) {
  buffer_pool pool;
  const auto good = make_codec("thresholds:levels=0+0.5+1")->encode(test::random_vector(pool, 100), randomness, 0);
  const auto with = [&](auto change) {
    auto p = good;
    p.payload = pool.allocate(good.payload.size());
    std::ranges::copy(good.payload.bytes(), p.payload.data());
    change(p);
    return test::refusal_of(p);
  };
  const auto with_level = [&](std::uint64_t word) { return with([&](packet& p) { p.recipe = {word}; }); };
  EXPECT_EQ(with([](packet&) {}), "accepted");
  for (float level : {0.0f, -0.0f, 1.0f, 2.0f, -0.5f, std::nanf("")})
    EXPECT_THAT(with_level(std::bit_cast<std::uint32_t>(level)), HasSubstr("do not increase from 0 to 1")) << level;
  EXPECT_THAT(with_level(std::uint64_t{1} << 32 | std::bit_cast<std::uint32_t>(0.5f)), HasSubstr("do not increase"));
  EXPECT_THAT(with([](packet& p) { p.recipe.clear(); }), HasSubstr("where the codec writes"));
  EXPECT_THAT(with([](packet& p) { p.recipe.resize(255); }), HasSubstr("257 levels"));
  EXPECT_THAT(with([](packet& p) { p.payload.data()[8] = std::byte{0xFF}; }), HasSubstr("the code 3 of 3 levels"));
  EXPECT_THAT(with([](packet& p) { p.parameter = 1; }), HasSubstr("has parameter 1"));
}

class uneven_levels_on : public test::each_instruction_set {};

TEST_P(uneven_levels_on, rounds_as_its_formula_says) {
  std::vector<float> many(200);
  std::iota(many.begin(), many.end(), -30.0f);
  const std::vector<std::vector<float>> all{
      {3}, {-2, 2}, {-1, -0.2f, 0.1f, 7}, {-largest, 0, largest}, {1, 1, 2, 2}, {0, 0x1p-149f, 0x1p-148f}, many};
  for (const auto& values : all) {
    const detail::uneven_levels levels{values};
    std::vector<float> v = values;
    random_sequence random{randomness, 9};
    for (int k = 0; k < 500; ++k)
      v.push_back(std::lerp(values.front(), values.back(), static_cast<float>(random.uniform())));
    std::vector<std::uint32_t> words(v.size());
    randomness.fill(3, 0, words);
    words[0] = 0;
    words.back() = ~0u;
    detail::level_codes codes;
    detail::round_to_levels(levels, v, words.data(), codes);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto next = std::ranges::upper_bound(values, v[i]);
      auto expected = next - values.begin() - 1;
      if (next != values.end()) {
        const float below = next[-1] * 0.5f;
        expected += static_cast<float>(words[i] >> 8) * 0x1p-24f < (v[i] * 0.5f - below) / (*next * 0.5f - below);
      }
      ASSERT_EQ(std::to_integer<std::ptrdiff_t>(codes.bytes[i]), expected) << v[i] << " of " << values.size();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, uneven_levels_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

} // namespace
} // namespace gossamer::compress
