// The stochastic sign against its definition in docs/wire-format.md.
#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "support/each_instruction_set.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{5, 2, purpose::quantise};
constexpr auto largest = std::numeric_limits<float>::max();

vec random_vector(buffer_pool& pool, std::size_t size) {
  vec v{pool, size};
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = 2 * random.uniform() - 1;
  return v;
}

std::string spec_of(bool norm, std::size_t bucket) {
  return std::string{"ssdm:norm="} + (norm ? "sent" : "dropped") + ",bucket=" + std::to_string(bucket);
}

std::string refusal(const packet& p) {
  try {
    std::ignore = decode(p);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

class ssdm_on : public test::each_instruction_set {};

TEST_P(ssdm_on, equals_its_definition) {
  buffer_pool pool;
  for (std::size_t size : {1u, 8u, 33u, 64u, 65u, 1000u, 2047u, 2048u, 2049u, 5000u})
    for (std::size_t bucket : {0u, 1u, 7u, 8u, 100u, 3000u, 9000u})
      for (bool norm_sent : {true, false}) {
        const auto v = random_vector(pool, size);
        const auto length = bucket == 0 ? size : bucket;
        const auto codec = make_codec(spec_of(norm_sent, bucket));
        const auto p = codec->encode(v, randomness, size);
        ASSERT_EQ(p.bits, size + (norm_sent ? 32 * ((size + length - 1) / length) : 0));
        const auto decoded = decode(p);
        for (std::size_t i = 0; i < size; ++i) {
          const auto first = i / length * length;
          const auto together = v.view().subspan(first, std::min(length, size - first));
          const auto norm = static_cast<float>(std::sqrt(sum_of_squares(together)));
          const float quotient = v[i] / norm;
          const float half = 0.5f * quotient;
          const float sign = randomness.uniform(size, i) < 0.5f + half ? 1.0f : -1.0f;
          ASSERT_EQ(decoded[i], norm_sent ? sign * norm : sign) << i << " of " << size << ", " << bucket;
        }
      }
}

TEST_P(ssdm_on, gives_zeros_and_the_largest_floats_their_signs) {
  buffer_pool pool;
  for (std::size_t bucket : {1u, 2u, 3u, 16u, 17u, 128u, 129u}) {
    auto v = random_vector(pool, 300);
    for (std::size_t i = 0; i < 200; ++i)
      v.mutate()[i] = i < 150 ? (i % 2 == 0 ? 0.0f : -0.0f) : (i % 2 == 0 ? largest : -largest);
    v.mutate()[250] = -std::numeric_limits<float>::denorm_min();
    const auto decoded = decode(make_codec(spec_of(true, bucket))->encode(v, randomness, bucket));
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto first = i / bucket * bucket;
      const auto together = v.view().subspan(first, std::min(bucket, v.size() - first));
      const auto root = std::min(std::sqrt(sum_of_squares(together)), static_cast<double>(largest));
      const auto norm = static_cast<float>(root);
      const float half = 0.5f * (v[i] / (norm > 0 ? norm : 1));
      const float expected = randomness.uniform(bucket, i) < 0.5f + half ? norm : -norm;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(decoded[i]), std::bit_cast<std::uint32_t>(expected)) << i << " " << bucket;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, ssdm_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

// T12: E |C(v) - v|^2 = (d - 1) |v|^2, where d is the number of elements that share a norm.
TEST(ssdm, has_the_error_of_its_formula) {
  buffer_pool pool;
  for (std::size_t bucket : {0u, 8u}) {
    const vec v = random_vector(pool, 200);
    const auto codec = make_codec(spec_of(true, bucket));
    const double expected = (bucket == 0 ? 199 : 7) * sum_of_squares(v.view());
    constexpr int draws = 4000;
    double measured = 0;
    for (std::uint64_t t = 0; t < draws; ++t)
      measured += squared_distance(decode(codec->encode(v, randomness, t)).view(), v.view()) / draws;
    EXPECT_NEAR(measured, expected, 0.01 * expected);
    EXPECT_EQ(codec->relative_error(200), bucket == 0 ? 199 : 7);
  }
}

/// Returns |s - s1|^2 / |s1|^2 on average. s1 is the mean of the workers' vectors, and s the result of a ring that
/// compresses each partial sum again: w <- Q(w + v), segment by segment.
double deviation_of_cascade(std::size_t workers) {
  buffer_pool pool;
  constexpr std::size_t dimension = 120;
  const auto base = random_vector(pool, dimension);
  std::vector<vec> vectors;
  vec mean{pool, dimension};
  random_sequence random{{10, 0, purpose::synthetic}, workers};
  for (std::size_t m = 0; m < workers; ++m) {
    auto v = base;
    for (float& x : v.mutate())
      x += 0.5f * (2 * random.uniform() - 1);
    mean += 1 / static_cast<float>(workers) * v;
    vectors.push_back(v);
  }
  const auto codec = make_codec("ssdm");
  constexpr int draws = 300;
  double deviation = 0;
  for (std::uint64_t t = 0; t < draws; ++t)
    for (std::size_t k = 0; k < workers; ++k) {
      const auto begin = k * dimension / workers, size = (k + 1) * dimension / workers - begin;
      vec w{pool, size};
      for (std::uint32_t hop = 0; hop < workers; ++hop) {
        const auto m = static_cast<std::uint32_t>((k + hop) % workers);
        w += vec{pool, vectors[m].view().subspan(begin, size)};
        w = decode(codec->encode(w, random_stream{7, m, purpose::quantise}, t * workers + k));
      }
      w *= 1 / static_cast<float>(workers);
      deviation += squared_distance(w.view(), mean.view().subspan(begin, size)) / draws;
    }
  return deviation / sum_of_squares(mean.view());
}

// T51: each hop multiplies the energy by about the elements of a segment, so cascading compression fails.
TEST(ssdm, explodes_when_sums_are_compressed_hop_by_hop) {
  const double of_3 = deviation_of_cascade(3), of_8 = deviation_of_cascade(8);
  EXPECT_GT(of_3, 1e3);
  EXPECT_GT(of_8, 10 * of_3);
}

TEST(ssdm, points_in_the_direction_of_the_vector_when_norms_are_dropped) {
  buffer_pool pool;
  const vec v = random_vector(pool, 33);
  const auto codec = make_codec("ssdm:norm=dropped");
  const double norm = std::sqrt(sum_of_squares(v.view()));
  constexpr int draws = 20'000;
  std::vector<double> mean(v.size());
  for (std::uint64_t t = 0; t < draws; ++t) {
    const auto decoded = decode(codec->encode(v, randomness, t));
    for (std::size_t i = 0; i < v.size(); ++i)
      mean[i] += static_cast<double>(decoded[i]) / draws;
  }
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_NEAR(mean[i], static_cast<double>(v[i]) / norm, 4.5 / std::sqrt(draws)) << i;
  EXPECT_TRUE(std::isinf(codec->relative_error(33)));
  EXPECT_FALSE(codec->can().unbiased);
}

TEST(ssdm, is_exact_where_every_element_has_its_own_norm) {
  buffer_pool pool;
  auto v = random_vector(pool, 1000);
  v.mutate()[17] = 0;
  v.mutate()[18] = -std::numeric_limits<float>::denorm_min();
  v.mutate()[19] = std::numeric_limits<float>::max();
  for (std::uint64_t t = 0; t < 20; ++t)
    ASSERT_EQ(decode(make_codec("ssdm:bucket=1")->encode(v, randomness, t)), v);
}

TEST(ssdm, keeps_buckets_of_zeros_and_sends_zero_in_no_bits) {
  buffer_pool pool;
  auto v = random_vector(pool, 100);
  std::ranges::fill(v.mutate().subspan(40, 20), 0.0f);
  const auto decoded = decode(make_codec("ssdm:bucket=10")->encode(v, randomness, 0));
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_EQ(decoded[i] == 0, i >= 40 && i < 60) << i;
  for (bool norm : {true, false})
    for (std::size_t bucket : {0u, 10u}) {
      const auto p = make_codec(spec_of(norm, bucket))->encode(vec{pool, 100}, randomness, 0);
      EXPECT_EQ(p.bits, 0u);
      EXPECT_EQ(decode(p), (vec{pool, 100}));
    }
}

TEST(ssdm, does_not_overflow) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>(100, std::numeric_limits<float>::max())};
  const auto decoded = decode(make_codec("ssdm")->encode(v, randomness, 0));
  for (float x : decoded.view())
    ASSERT_EQ(std::fabs(x), std::numeric_limits<float>::max());
}

TEST(ssdm, refuses_what_contradicts_itself) {
  buffer_pool pool;
  const auto good = make_codec("ssdm:bucket=8")->encode(random_vector(pool, 33), randomness, 0);
  const auto with = [&](auto change) {
    auto p = good;
    change(p);
    return refusal(p);
  };
  EXPECT_EQ(with([](packet&) {}), "accepted");
  EXPECT_EQ(with([](packet& p) { p.parameter = 2; }), "packet of codec ssdm has parameter 2; allowed: 0 and 1");
  EXPECT_THAT(with([](packet& p) { p.parameter = 0; }), HasSubstr("recipe of 1 words"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {8, 8}; }), HasSubstr("recipe of 2 words"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {0}; }), HasSubstr("buckets of 0 elements; allowed: 1 to "));
  EXPECT_THAT(with([](packet& p) { p.recipe = {~std::uint64_t{0}}; }), HasSubstr("elements; allowed: 1 to "));
  EXPECT_THAT(with([](packet& p) { p.recipe = {7}; }), "accepted") << "33 elements have 5 norms either way";
  EXPECT_THAT(with([](packet& p) { p.recipe = {9}; }), HasSubstr("carries 193 bits where the codec writes 161"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {}; }), HasSubstr("carries 193 bits where the codec writes 65"));
  EXPECT_THAT(with([](packet& p) { p.elements = 34; }), HasSubstr("carries 193 bits where the codec writes 194"));
  EXPECT_THAT(with([](packet& p) { p.elements = ~std::uint64_t{0}; }), HasSubstr("elements; allowed: "));
  const auto infinity = std::numeric_limits<float>::infinity();
  for (float norm : {-0.0f, -1.0f, infinity, -infinity, std::nanf("")})
    EXPECT_THAT(with([&](packet& p) {
                  p.payload = pool.allocate(good.payload.size());
                  std::ranges::copy(good.payload.bytes(), p.payload.data());
                  std::memcpy(p.payload.data() + 16, &norm, sizeof norm);
                }),
                HasSubstr("it must be finite and not negative"));
}

TEST(ssdm, names_the_parameters_that_it_refuses) {
  EXPECT_THROW(std::ignore = make_codec("ssdm:norm=kept"), error);
  EXPECT_THROW(std::ignore = make_codec("ssdm:bucket=-1"), error);
  EXPECT_THROW(std::ignore = make_codec("ssdm:bucket=4294967297"), error);
}

} // namespace
} // namespace gossamer::compress
