// QSGD and TernGrad: closed forms, and the equality of TernGrad with one case of QSGD.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/codecs.hpp"
#include "support/each_instruction_set.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{6, 1, purpose::quantise};
constexpr auto largest = std::numeric_limits<float>::max();

vec normal_vector(buffer_pool& pool, std::size_t size) {
  vec v{pool, size};
  random_sequence random{{21, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = static_cast<float>(random.normal());
  return v;
}

class qsgd_on : public test::each_instruction_set {};

TEST_P(qsgd_on, equals_its_definition) {
  buffer_pool pool;
  for (int s : {1, 2, 3, 7, 8, 127, 128, 1000, 32767})
    for (std::size_t bucket : {7u, 2048u, 3000u}) {
      const auto spec = "qsgd:norm=max,levels=" + std::to_string(s) + ",bucket=" + std::to_string(bucket);
      SCOPED_TRACE(spec);
      const vec v = normal_vector(pool, 3000);
      const auto p = make_codec(spec)->encode(v, randomness, 4);
      const auto width = static_cast<std::size_t>(1 + std::ceil(std::log2(s + 1)));
      const std::size_t buckets = (3000 + bucket - 1) / bucket;
      ASSERT_EQ(p.bits, 32 * buckets + 3000 * width);
      const auto decoded = decode(p);
      for (std::size_t i = 0; i < v.size(); ++i) {
        const auto first = i / bucket * bucket;
        const float norm = max_magnitude(v.view().subspan(first, std::min(bucket, v.size() - first)));
        ASSERT_EQ(test::float_at(p, 4 * (i / bucket)), norm);
        const float delta = norm / static_cast<float>(s), y = v[i] * (1 / delta), f = std::floor(y);
        const int k = std::clamp(static_cast<int>(f) + (randomness.uniform(4, i) < y - f ? 1 : 0), -s, s);
        ASSERT_EQ(test::code_at(p, 32 * buckets, width, i), static_cast<std::uint32_t>(k) & ((1u << width) - 1)) << i;
        ASSERT_EQ(decoded[i], std::clamp(static_cast<float>(k) * delta, -norm, norm)) << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, qsgd_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

TEST(qsgd, says_the_same_in_every_code) {
  buffer_pool pool;
  for (const char* rest : {",levels=1", ",levels=4", ",levels=127,norm=max", ",levels=32767", ",bucket=100,levels=2"})
    for (std::size_t size : {0u, 1u, 33u, 2048u, 5000u}) {
      const vec v = normal_vector(pool, size);
      const auto fixed = decode(make_codec("qsgd:code=fixed" + std::string{rest})->encode(v, randomness, 1));
      for (const char* code : {"elias-sparse", "elias-dense"})
        EXPECT_EQ(decode(make_codec("qsgd:code=" + std::string{code} + rest)->encode(v, randomness, 1)), fixed) << rest;
    }
}

TEST(qsgd, has_the_published_lengths) {
  buffer_pool pool;
  const auto mean_bits = [&](const std::string& spec, std::size_t size) {
    const vec v = normal_vector(pool, size);
    double sum = 0;
    for (std::uint64_t t = 0; t < 20; ++t)
      sum += static_cast<double>(make_codec(spec)->encode(v, randomness, t).bits) / 20;
    return sum;
  };
  EXPECT_NEAR(mean_bits("qsgd:code=elias-sparse,levels=1", 1024), 322, 25);
  EXPECT_NEAR(mean_bits("qsgd:code=elias-dense,levels=32", 1024) / 1024, 2.95, 0.1);
  EXPECT_NEAR(mean_bits("qsgd:code=elias-dense,levels=128", 16384) / 16384, 2.95, 0.1);
  for (double s : {1.0, 4.0}) {
    const double d = 1024, nonzeros = s * (s + std::sqrt(d));
    const double bound = (3 + 1.5 * std::log2(2 * (s * s + d) / nonzeros)) * nonzeros + 32;
    EXPECT_LE(mean_bits("qsgd:code=elias-sparse,levels=" + std::to_string(static_cast<int>(s)), 1024), bound) << s;
  }
}

// The bound of the length is tight for these vectors: many small levels, or few large ones.
TEST(qsgd, never_exceeds_its_bound_of_the_length) {
  buffer_pool pool;
  for (const char* code : {"elias-sparse", "elias-dense"})
    for (const char* norm : {"l2", "max"})
      for (int s : {1, 2, 3, 4, 8, 15, 127, 1000, 32767})
        for (std::size_t alike : {1u, 2u, 16u, 100u, 256u}) {
          const auto codec = make_codec("qsgd:levels=" + std::to_string(s) + ",code=" + code + ",norm=" + norm);
          vec v{pool, 256};
          std::ranges::fill(v.mutate(), 1e-3f);
          std::ranges::fill(v.mutate().first(alike), -1.0f);
          const auto bits = codec->encode(v, randomness, 0).bits;
          EXPECT_LE(bits, codec->bits(256));
          EXPECT_LE(codec->bits(256), 32u + 256u * 50u);
          if (s > 1 && alike == 256) {
            EXPECT_GE(static_cast<double>(bits), 0.3 * static_cast<double>(codec->bits(256))) << code << norm << s;
          }
        }
}

TEST(qsgd, has_a_bound_of_the_length_also_for_a_norm_beyond_the_largest_float) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>(20'000, 3e38f)};
  for (const char* code : {"elias-sparse", "elias-dense"})
    for (const char* rest : {"", ",bucket=300", ",levels=32767", ",norm=max"}) {
      const auto spec = std::string{"qsgd:code="} + code + rest;
      const auto codec = make_codec(spec);
      const auto bits = codec->encode(v, randomness, 0).bits;
      EXPECT_LE(bits, codec->most_bits(v.size())) << spec;
      EXPECT_LE(codec->bits(v.size()), codec->most_bits(v.size())) << spec;
      EXPECT_EQ(bits > codec->bits(v.size()), !spec.ends_with("norm=max")) << spec;
    }
  EXPECT_EQ(make_codec("qsgd")->most_bits(v.size()), make_codec("qsgd")->bits(v.size()));
}

TEST(qsgd, has_the_error_of_its_formula) {
  buffer_pool pool;
  const vec v = normal_vector(pool, 1000);
  for (const char* norm : {"l2", "max"})
    for (int s : {1, 4, 32, 127}) {
      const auto codec = make_codec("qsgd:levels=" + std::to_string(s) + ",norm=" + norm);
      const double size =
          norm[0] == 'm' ? static_cast<double>(max_magnitude(v.view())) : std::sqrt(sum_of_squares(v.view()));
      double expected = 0;
      for (float x : v.view()) {
        const double y = static_cast<double>(x) / size * s, r = y - std::floor(y);
        expected += size / s * size / s * r * (1 - r);
      }
      EXPECT_NEAR(test::mean_square_error(*codec, v, randomness, 400), expected, 0.04 * expected) << norm << s;
      EXPECT_LE(expected, codec->relative_error(1000) * sum_of_squares(v.view()));
    }
}

TEST(qsgd, survives_a_norm_beyond_the_largest_float) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>{largest, -largest, largest, 0}};
  const auto decoded = decode(make_codec("qsgd")->encode(v, randomness, 0));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(decoded[i] / largest, v[i] / largest, 1e-6);
}

TEST(qsgd, refuses_what_no_encoder_sends) {
  buffer_pool pool;
  const auto with = [&](const char* spec, auto change) {
    auto p = make_codec(spec)->encode(normal_vector(pool, 100), randomness, 0);
    change(p);
    return test::refusal_of(p);
  };
  const auto with_norm = [&](float norm) {
    return with("qsgd", [&](packet& p) { std::memcpy(p.payload.data(), &norm, 4); });
  };
  for (float norm : {-1.0f, -0.0f, 1e-38f, std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_THAT(with_norm(norm), HasSubstr("it must be 0 or finite"));
  EXPECT_THAT(with("qsgd", [](packet& p) { p.parameter = 3; }), HasSubstr("the code 3"));
  EXPECT_THAT(with("qsgd", [](packet& p) { p.recipe[0] = 0; }), HasSubstr("0 levels"));
  EXPECT_THAT(with("qsgd", [](packet& p) { p.recipe[0] = 32768; }), HasSubstr("32768 levels"));
  EXPECT_THAT(with("qsgd", [](packet& p) { p.recipe[1] = 10; }), HasSubstr("where the codec writes"));
  EXPECT_THAT(with("qsgd", [](packet& p) { p.recipe.pop_back(); }), HasSubstr("recipe of 1 words"));
  EXPECT_THAT(with("qsgd:code=elias-dense", [](packet& p) { p.recipe[0] = 1; }), HasSubstr("holds the level"));
  EXPECT_THAT(with("qsgd:code=elias-dense", [](packet& p) { p.elements = 99; }), HasSubstr("behind its last level"));
  EXPECT_THAT(with("qsgd:code=elias-dense", [](packet& p) { p.elements = 101; }), HasSubstr("bit stream"));
  EXPECT_THAT(with("qsgd:code=elias-dense", [](packet& p) { p.elements = 100'000; }), HasSubstr("are needed"));
  EXPECT_THAT(with("qsgd:code=elias-sparse", [](packet& p) { p.elements = 50; }), HasSubstr("behind its last element"));
}

// The law of TernGrad: each element is +-s with probability |v_i| / s.
TEST(terngrad, is_qsgd_with_one_level_of_the_largest_element) {
  buffer_pool pool;
  const vec v = normal_vector(pool, 1000);
  const auto ternary = make_codec("terngrad"), quantised = make_codec("qsgd:levels=1,norm=max");
  EXPECT_EQ(ternary->bits(1000), 2032u);
  EXPECT_EQ(quantised->bits(1000), 2032u);
  const float s = max_magnitude(v.view());
  std::vector<int> kept(1000), quantised_kept(1000);
  constexpr int draws = 2000;
  for (std::uint64_t t = 0; t < draws; ++t) {
    const auto a = decode(ternary->encode(v, randomness, t)), b = decode(quantised->encode(v, randomness, draws + t));
    for (std::size_t i = 0; i < v.size(); ++i) {
      ASSERT_TRUE(a[i] == 0 || a[i] == std::copysign(s, v[i]));
      kept[i] += a[i] != 0;
      quantised_kept[i] += b[i] != 0;
    }
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double p = static_cast<double>(std::fabs(v[i]) / s), error = std::sqrt(draws * p * (1 - p)) + 1e-9;
    ASSERT_NEAR(kept[i], draws * p, 4.5 * error + 1);
    ASSERT_NEAR(quantised_kept[i], draws * p, 4.5 * error + 1);
  }
}

TEST(terngrad, has_the_error_of_its_formula) {
  buffer_pool pool;
  const vec v = normal_vector(pool, 1000);
  const auto codec = make_codec("terngrad");
  const double expected =
      static_cast<double>(max_magnitude(v.view())) * sum_of_magnitudes(v.view()) - sum_of_squares(v.view());
  EXPECT_NEAR(test::mean_square_error(*codec, v, randomness, 400), expected, 0.03 * expected);
  EXPECT_LE(expected, codec->relative_error(1000) * sum_of_squares(v.view()));
}

TEST(terngrad, clips_at_standard_deviations_on_demand) {
  buffer_pool pool;
  const vec v = normal_vector(pool, 10'000);
  const auto codec = make_codec("terngrad:clip=2.5");
  EXPECT_FALSE(codec->can().unbiased);
  const auto p = codec->encode(v, randomness, 0);
  const float s = test::float_at(p, 0);
  EXPECT_NEAR(s, 2.5, 0.1);
  const auto decoded = decode(p);
  for (std::size_t i = 0; i < v.size(); ++i)
    if (std::fabs(v[i]) >= s) {
      ASSERT_EQ(decoded[i], std::copysign(s, v[i]));
    }
  const vec same{pool, std::vector<float>(100, 0.7f)};
  EXPECT_EQ(decode(codec->encode(same, randomness, 0)), same) << "nothing is beyond 2.5 deviations";
}

} // namespace
} // namespace gossamer::compress
