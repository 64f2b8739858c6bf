// The uniform quantiser against its definition in docs/wire-format.md, written out plainly.
#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/uniform.hpp"

#include <gmock/gmock.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

namespace gossamer::compress {
namespace {

const random_stream randomness{5, 2, purpose::quantise};
constexpr auto largest = std::numeric_limits<float>::max();

std::string spec_of(int bits) { return "uniform:bits=" + std::to_string(bits); }

vec random_vector(buffer_pool& pool, std::size_t size, float scale = 1) {
  vec v{pool, size};
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = scale * (2 * random.uniform() - 1);
  return v;
}

float scale_of(const packet& p) {
  float delta;
  std::memcpy(&delta, p.payload.data(), sizeof delta);
  return delta;
}

/// Returns the code of element i. Its bit j is bit b i + j behind the scale.
std::uint32_t code_at(const packet& p, std::size_t i) {
  std::uint32_t code = 0;
  for (std::size_t j = 0; j < p.parameter; ++j) {
    const auto bit = 32 + p.parameter * i + j;
    code |= (std::to_integer<std::uint32_t>(p.payload.data()[bit / 8]) >> (bit % 8) & 1u) << j;
  }
  return code;
}

/// Returns the integer k of element i.
int rounded(float v, float delta, int bits, std::uint64_t step, std::uint64_t i) {
  const float inverse = (bits == 1 ? 0.5f : 1.0f) / delta;
  float y = v * inverse;
  if (bits == 1)
    y = y - 0.5f;
  const float f = std::floor(y);
  const float fraction = y - f;
  const int k = static_cast<int>(f) + (randomness.uniform(step, i) < fraction ? 1 : 0);
  const int top = (1 << (bits - 1)) - 1;
  return bits == 1 ? std::clamp(k, -1, 0) : std::clamp(k, -top, top);
}

void expect_definition(const vec& v, int bits, std::uint64_t step) {
  const auto p = make_codec(spec_of(bits))->encode(v, randomness, step);
  const float delta = scale_of(p);
  const float top = bits == 1 ? 1.0f : static_cast<float>((1 << (bits - 1)) - 1);
  ASSERT_EQ(delta, max_magnitude(v.view()) / top);
  const auto decoded = decode(p);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const int k = rounded(v[i], delta, bits, step, i);
    ASSERT_EQ(code_at(p, i), static_cast<std::uint32_t>(k) & ((1u << bits) - 1)) << i << " of " << v.size();
    ASSERT_EQ(decoded[i], static_cast<float>(bits == 1 ? 2 * k + 1 : k) * delta) << i << " of " << v.size();
  }
}

/// Runs each case with every instruction set that was compiled and that this machine has.
class uniform_on : public testing::TestWithParam<std::int64_t> {
protected:
  void SetUp() override { choose(GetParam()); }
  void TearDown() override { choose(0); }

private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(uniform_on, equals_its_definition) {
  buffer_pool pool;
  for (int bits = 1; bits <= 16; ++bits)
    for (std::size_t size : {1u, 2u, 7u, 8u, 9u, 31u, 32u, 33u, 64u, 1000u, 2047u, 2048u, 2049u, 5000u}) {
      SCOPED_TRACE(spec_of(bits));
      expect_definition(random_vector(pool, size), bits, size);
    }
}

TEST_P(uniform_on, equals_its_definition_at_the_ends_of_the_range) {
  buffer_pool pool;
  for (int bits = 1; bits <= 16; ++bits) {
    SCOPED_TRACE(spec_of(bits));
    auto v = random_vector(pool, 200, 1e-30f);
    const auto values = v.mutate();
    values[3] = -0.0f;
    values[4] = std::numeric_limits<float>::denorm_min();
    values[5] = -std::numeric_limits<float>::min() / 3;
    expect_definition(v, bits, 1);
    values[6] = 0.4f * largest; // below the numbers whose delta is rounded down
    expect_definition(v, bits, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, uniform_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& instance) { return hwy::TargetName(instance.param); });

// T6: the rounding of v / delta may cost the largest element one level, but never gain it one, which would wrap.
TEST(uniform, never_wraps_the_largest_element) {
  buffer_pool pool;
  random_sequence random{{4, 0, purpose::synthetic}, 0};
  for (int bits = 1; bits <= 16; ++bits)
    for (int trial = 0; trial < 300; ++trial) {
      const float norm = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(230)) - 110);
      const vec v{pool, std::vector<float>{norm, -norm}};
      const auto p = make_codec(spec_of(bits))->encode(v, randomness, static_cast<std::uint64_t>(trial));
      const auto decoded = decode(p);
      const float level = bits == 1 ? 0.0f : scale_of(p);
      const float rounding = norm * 0x1p-22f;
      for (float sign : {1.0f, -1.0f}) {
        const float magnitude = sign * decoded[sign > 0 ? 0 : 1];
        ASSERT_GE(magnitude, norm - level - rounding) << bits;
        ASSERT_LE(magnitude, norm + rounding) << bits;
      }
    }
}

TEST(uniform, represents_the_largest_float) {
  buffer_pool pool;
  for (int bits = 1; bits <= 16; ++bits) {
    const vec v{pool, std::vector<float>{largest, -largest, 0.5f * largest}};
    const auto decoded = decode(make_codec(spec_of(bits))->encode(v, randomness, 0));
    for (std::size_t i = 0; i < v.size(); ++i)
      ASSERT_TRUE(std::isfinite(decoded[i])) << bits;
    ASSERT_NEAR(decoded[0] / largest, 1, 0x1p-21);
    ASSERT_NEAR(decoded[1] / largest, -1, 0x1p-21);
  }
}

TEST(uniform, sends_zero_and_what_is_too_small_in_32_bits) {
  buffer_pool pool;
  const auto smallest = std::numeric_limits<float>::min();
  for (int bits = 1; bits <= 16; ++bits) {
    const auto top = static_cast<float>(bits == 1 ? 1 : (1 << (bits - 1)) - 1);
    const auto codec = make_codec(spec_of(bits));
    for (float x : {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), std::nextafter(smallest, 0.0f) * top}) {
      const vec v{pool, std::vector<float>(100, x)};
      const auto p = codec->encode(v, randomness, 0);
      ASSERT_EQ(p.bits, 32u) << x;
      ASSERT_EQ(decode(p), (vec{pool, 100}));
    }
    const vec v{pool, std::vector<float>(100, smallest * top)};
    ASSERT_EQ(codec->encode(v, randomness, 0).bits, codec->bits(100));
  }
}

// T2: the exact error of section 3 of the paper, in which theorems are stated.
TEST(uniform, has_the_error_of_its_formula) {
  buffer_pool pool;
  const vec v = random_vector(pool, 1000);
  for (int bits : {2, 3, 4, 8, 11, 16}) {
    const double delta = static_cast<double>(max_magnitude(v.view())) / ((1 << (bits - 1)) - 1);
    double expected = 0;
    for (float x : v.view()) {
      const double r = static_cast<double>(x) / delta - std::floor(static_cast<double>(x) / delta);
      expected += delta * delta * r * (1 - r);
    }
    const auto codec = make_codec(spec_of(bits));
    constexpr int draws = 300;
    double measured = 0;
    for (int t = 0; t < draws; ++t)
      measured += squared_distance(decode(codec->encode(v, randomness, static_cast<std::uint64_t>(t))).view(), v.view())
                  / draws;
    EXPECT_NEAR(measured, expected, 0.03 * expected) << spec_of(bits);
    EXPECT_LE(expected, 1000 * delta * delta / 4);
    EXPECT_NEAR(uniform_expected_error(v.view(), bits), expected, 1e-3 * expected) << spec_of(bits);
  }
}

TEST(uniform, expects_no_error_on_its_levels_and_the_whole_vector_where_it_sends_zero) {
  const std::vector<float> levels{-7, -3, 0, 1, 7}, tiny{1e-40f, -2e-40f};
  EXPECT_EQ(uniform_expected_error(levels, 4), 0);
  EXPECT_GT(uniform_expected_error(levels, 3), 0);
  EXPECT_EQ(uniform_expected_error(tiny, 8), sum_of_squares(tiny));
  EXPECT_EQ(uniform_expected_error({}, 8), 0);
}

TEST(uniform, allocates_nothing_once_warm) {
  buffer_pool pool;
  const auto codec = make_codec("uniform:bits=5");
  const vec v = random_vector(pool, 3000);
  const auto work = [&] { std::ignore = decode(read(pool, write(codec->encode(v, randomness, 0)).bytes())); };
  work();
  const auto warm = pool.blocks_created();
  for (int i = 0; i < 100; ++i)
    work();
  EXPECT_EQ(pool.blocks_created(), warm);
}

} // namespace
} // namespace gossamer::compress
