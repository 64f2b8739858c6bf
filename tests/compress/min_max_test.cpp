// The min-max quantiser against its definition in docs/wire-format.md, written out plainly.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/codecs.hpp"
#include "support/each_instruction_set.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{5, 2, purpose::quantise};
constexpr auto largest = std::numeric_limits<float>::max();

std::string spec_of(int bits, std::size_t chunk = 0) {
  return "min-max:bits=" + std::to_string(bits) + ",chunk=" + std::to_string(chunk);
}

struct expected_level {
  int k;
  float value;
};

expected_level rounded(float v, float lo, float hi, int bits, float u) {
  const auto top = static_cast<float>((1 << bits) - 1);
  const float half = hi * 0.5f - lo * 0.5f, middle = lo + half, offset = top * 0.5f;
  const float scaled = (v - middle) * (offset / half);
  const float y = scaled + offset, f = std::floor(y);
  float k = std::clamp(f + (u < y - f ? 1.0f : 0.0f), 0.0f, top);
  if (v >= hi)
    k = top;
  if (v <= lo)
    k = 0;
  if (k == 0)
    return {0, lo};
  if (k == top)
    return {static_cast<int>(top), hi};
  const float away = (k - offset) * (half / offset);
  return {static_cast<int>(k), std::clamp(away + middle, lo, hi)};
}

void expect_definition(const vec& v, int bits, std::size_t chunk, std::uint64_t step) {
  const auto codec = make_codec(spec_of(bits, chunk));
  const auto p = codec->encode(v, randomness, step);
  const auto length = chunk == 0 ? v.size() : chunk;
  const auto chunks = (v.size() + length - 1) / length;
  ASSERT_EQ(p.bits, 64 * chunks + static_cast<std::size_t>(bits) * v.size());
  const auto decoded = decode(p);
  for (std::size_t c = 0; c < chunks; ++c) {
    const auto part = v.view().subspan(c * length, std::min(length, v.size() - c * length));
    const float lo = test::float_at(p, 8 * c), hi = test::float_at(p, 8 * c + 4);
    ASSERT_EQ(lo, *std::ranges::min_element(part));
    ASSERT_EQ(hi, *std::ranges::max_element(part));
    for (std::size_t i = c * length; i < c * length + part.size(); ++i) {
      const auto [k, value] = rounded(v[i], lo, hi, bits, randomness.uniform(step, i));
      ASSERT_EQ(test::code_at(p, 64 * chunks, static_cast<std::size_t>(bits), i), static_cast<std::uint32_t>(k)) << i;
      ASSERT_EQ(decoded[i], value) << i;
    }
  }
}

class min_max_on : public test::each_instruction_set {};

TEST_P(min_max_on, equals_its_definition) {
  buffer_pool pool;
  for (int bits = 1; bits <= 16; ++bits)
    for (std::size_t size : {2u, 7u, 8u, 9u, 31u, 33u, 1000u, 2047u, 2049u, 5000u}) {
      SCOPED_TRACE(spec_of(bits));
      expect_definition(test::random_vector(pool, size), bits, 0, size);
    }
}

TEST_P(min_max_on, equals_its_definition_in_chunks_of_any_size) {
  buffer_pool pool;
  for (int bits : {1, 3, 8, 11, 16})
    for (std::size_t chunk : {1u, 2u, 7u, 64u, 2048u, 2049u, 2999u, 3000u, 4000u}) {
      SCOPED_TRACE(spec_of(bits, chunk));
      expect_definition(test::random_vector(pool, 3000), bits, chunk, chunk);
    }
}

TEST_P(min_max_on, equals_its_definition_where_the_range_overflows) {
  buffer_pool pool;
  for (int bits = 1; bits <= 16; ++bits) {
    auto v = test::random_vector(pool, 100, 0.9f * largest);
    v.mutate()[3] = largest;
    v.mutate()[4] = -largest;
    expect_definition(v, bits, 0, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, min_max_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

TEST(min_max, represents_the_ends_exactly) {
  buffer_pool pool;
  random_sequence random{{4, 0, purpose::synthetic}, 0};
  for (int bits = 1; bits <= 16; ++bits)
    for (int trial = 0; trial < 300; ++trial) {
      const float lo = std::ldexp(2 * random.uniform() - 1, static_cast<int>(random.below(150)) - 50);
      const float hi = std::nextafter(lo, largest) + (trial % 3 == 0 ? 0 : std::fabs(lo) * random.uniform());
      const vec v{pool, std::vector<float>{hi, lo, hi, lo}};
      ASSERT_EQ(decode(make_codec(spec_of(bits))->encode(v, randomness, static_cast<std::uint64_t>(trial))), v);
    }
}

TEST(min_max, represents_equal_elements_exactly) {
  buffer_pool pool;
  for (float x : {0.0f, 0.7f, -1e-40f, largest, -largest}) {
    const vec v{pool, std::vector<float>(100, x)};
    EXPECT_EQ(decode(make_codec("min-max")->encode(v, randomness, 0)), v);
  }
}

TEST(min_max, has_the_error_of_its_formula) {
  buffer_pool pool;
  const vec v = test::random_vector(pool, 1000);
  const auto [lo, hi] = std::ranges::minmax(v.view());
  for (int bits : {1, 2, 4, 8, 12}) {
    const double step = (static_cast<double>(hi) - static_cast<double>(lo)) / ((1 << bits) - 1);
    double expected = 0;
    for (float x : v.view()) {
      const double y = (static_cast<double>(x) - static_cast<double>(lo)) / step, r = y - std::floor(y);
      expected += step * step * r * (1 - r);
    }
    EXPECT_NEAR(test::mean_square_error(*make_codec(spec_of(bits)), v, randomness, 300), expected, 0.03 * expected);
    EXPECT_LE(expected, make_codec(spec_of(bits))->relative_error(1000) * sum_of_squares(v.view()));
  }
}

TEST(min_max, rounds_to_the_nearest_level_on_demand) {
  buffer_pool pool;
  const vec v = test::random_vector(pool, 1000);
  const auto codec = make_codec("min-max:bits=4,rounding=nearest");
  const auto decoded = decode(codec->encode(v, randomness, 0));
  const auto [lo, hi] = std::ranges::minmax(v.view());
  for (std::size_t i = 0; i < v.size(); ++i)
    ASSERT_LE(std::fabs(decoded[i] - v[i]), (hi - lo) / 30 * 1.00001f);
  EXPECT_TRUE(codec->can().deterministic);
  EXPECT_FALSE(codec->can().unbiased);
}

TEST(min_max, refuses_what_no_encoder_sends) {
  buffer_pool pool;
  const auto good = make_codec(spec_of(4, 10))->encode(test::random_vector(pool, 25), randomness, 0);
  const auto with = [&](auto change) {
    auto p = good;
    p.payload = pool.allocate(good.payload.size());
    std::ranges::copy(good.payload.bytes(), p.payload.data());
    change(p);
    return test::refusal_of(p);
  };
  const auto with_range = [&](float lo, float hi) {
    return with([&](packet& p) {
      std::memcpy(p.payload.data() + 8, &lo, 4);
      std::memcpy(p.payload.data() + 12, &hi, 4);
    });
  };
  EXPECT_EQ(with([](packet&) {}), "accepted");
  EXPECT_EQ(with_range(2, 3), "accepted");
  EXPECT_THAT(with_range(3, 2), HasSubstr("finite ends in order"));
  EXPECT_THAT(with_range(-0.0f, 1), HasSubstr("finite ends in order"));
  EXPECT_THAT(with_range(0, std::nanf("")), HasSubstr("finite ends in order"));
  EXPECT_THAT(with_range(-std::numeric_limits<float>::infinity(), 0), HasSubstr("finite ends in order"));
  EXPECT_THAT(with_range(0, 1e-40f), HasSubstr("too near to each other"));
  EXPECT_THAT(with([](packet& p) { p.parameter = 17; }), HasSubstr("codes of 17 bits"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {0}; }), HasSubstr("chunks of 0 elements"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {9, 9}; }), HasSubstr("recipe of 2 words"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {9}; }), testing::StartsWith("accepted"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {5}; }), HasSubstr("carries 292 bits where the codec writes 420"));
  EXPECT_THAT(with([](packet& p) { p.elements = ~std::uint64_t{0}; }), HasSubstr("elements; allowed"));
}

} // namespace
} // namespace gossamer::compress
