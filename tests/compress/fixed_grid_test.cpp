#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "support/codecs.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{8, 3, purpose::quantise};

TEST(fixed_grid, rounds_to_multiples_of_its_step_and_then_clamps) {
  buffer_pool pool;
  for (int bits = 2; bits <= 32; ++bits)
    for (float scale : {0.02f, 1.0f, 400.0f, 1e9f, 1e30f}) {
      SCOPED_TRACE(bits);
      const vec v = test::random_vector(pool, 2100, scale);
      const auto p = make_codec("fixed-grid:step=0.01,bits=" + std::to_string(bits))->encode(v, randomness, 2);
      ASSERT_EQ(p.bits, 32u + 2100u * static_cast<unsigned>(bits));
      ASSERT_EQ(test::float_at(p, 0), 0.01f);
      const auto decoded = decode(p);
      const double last = std::ldexp(1, bits - 1);
      for (std::size_t i = 0; i < v.size(); ++i) {
        const float y = v[i] * (1 / 0.01f), f = std::floor(y);
        const float rounded = f + (randomness.uniform(2, i) < y - f ? 1.0f : 0.0f);
        const auto k = static_cast<std::int64_t>(std::clamp(static_cast<double>(rounded), -last, last - 1));
        const auto mask = bits == 32 ? ~0u : (1u << bits) - 1;
        ASSERT_EQ(test::code_at(p, 32, static_cast<std::size_t>(bits), i), static_cast<std::uint32_t>(k) & mask)
            << v[i];
        ASSERT_EQ(decoded[i], static_cast<float>(k) * 0.01f);
      }
    }
}

TEST(fixed_grid, is_unbiased_within_its_range) {
  buffer_pool pool;
  for (const char* spec : {"fixed-grid:step=0.25,bits=4", "fixed-grid:step=0.25,bits=20"}) {
    const vec v = test::random_vector(pool, 50, 1.7f);
    const auto codec = make_codec(spec);
    std::vector<double> sums(50);
    constexpr int draws = 8000;
    for (std::uint64_t t = 0; t < draws; ++t) {
      const auto decoded = decode(codec->encode(v, randomness, t));
      for (std::size_t i = 0; i < v.size(); ++i)
        sums[i] += static_cast<double>(decoded[i]);
    }
    for (std::size_t i = 0; i < v.size(); ++i)
      EXPECT_NEAR(sums[i] / draws, static_cast<double>(v[i]), 4.5 * 0.125 / std::sqrt(draws));
  }
}

TEST(fixed_grid, wants_a_step_with_which_all_levels_are_floats) {
  for (const char* spec : {"fixed-grid:step=0", "fixed-grid:step=-1", "fixed-grid:step=1e-39", "fixed-grid:step=1e36",
                           "fixed-grid:step=1e39", "fixed-grid:step=nan", "fixed-grid:step=inf"})
    try {
      std::ignore = make_codec(spec);
      ADD_FAILURE() << spec;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.sentence(), HasSubstr("step of codec 'fixed-grid' is "));
    }
  EXPECT_NO_THROW(std::ignore = make_codec("fixed-grid:step=1e36,bits=2"));
}

TEST(fixed_grid, accepts_the_ends_of_the_range_that_a_refusal_names) {
  for (int bits = 2; bits <= 32; ++bits) {
    SCOPED_TRACE(bits);
    const auto with = [&](const std::string& step) {
      return make_codec("fixed-grid:step=" + step + ",bits=" + std::to_string(bits));
    };
    std::string allowed;
    try {
      std::ignore = with("0");
    } catch (const error& e) {
      allowed = e.remedy();
    }
    const auto from = allowed.find(": "), to = allowed.find(" to ");
    ASSERT_NE(to, std::string::npos) << allowed;
    const auto most = allowed.substr(to + 4);
    EXPECT_NO_THROW(with(allowed.substr(from + 2, to - from - 2))) << allowed;
    EXPECT_NO_THROW(with(most)) << allowed;
    EXPECT_THROW(with(std::to_string(1.01 * std::stod(most))), error) << "three digits of it";
  }
}

TEST(fixed_grid, refuses_what_no_encoder_sends) {
  buffer_pool pool;
  const auto with = [&](const char* spec, auto change) {
    auto p = make_codec(spec)->encode(test::random_vector(pool, 10), randomness, 0);
    change(p);
    return test::refusal_of(p);
  };
  for (float step : {0.0f, -1.0f, 1e-40f, 1e36f, std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_THAT(with("fixed-grid", [&](packet& p) { std::memcpy(p.payload.data(), &step, 4); }),
                HasSubstr("with which levels are no floats"));
  EXPECT_THAT(with("fixed-grid", [](packet& p) { p.parameter = 1; }), HasSubstr("codes of 1 bits"));
  EXPECT_THAT(with("fixed-grid", [](packet& p) { p.parameter = 33; }), HasSubstr("codes of 33 bits"));
  EXPECT_THAT(with("fixed-grid:bits=32", [](packet& p) { p.elements = 11; }), HasSubstr("where the codec writes"));
}

} // namespace
} // namespace gossamer::compress
