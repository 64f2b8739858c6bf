#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/codecs.hpp"

namespace gossamer::compress {
namespace {

const random_stream randomness{7, 0, purpose::quantise};

std::vector<float> through(const char* codec, std::vector<float> values, std::uint64_t step = 0) {
  buffer_pool pool;
  const auto decoded = decode(make_codec(codec)->encode(vec{pool, values}, randomness, step));
  return {decoded.view().begin(), decoded.view().end()};
}

TEST(e3m0, keeps_powers_of_two_below_the_greatest) {
  std::vector<float> values;
  for (int e = -6; e <= 0; ++e)
    for (const float sign : {-3.0f, 3.0f})
      values.push_back(sign * std::ldexp(1.0f, e));
  values.push_back(0);
  for (const char* codec : {"e3m0", "e3m0:rounding=nearest"})
    EXPECT_EQ(through(codec, values), values) << codec;
}

TEST(e3m0, goes_to_the_nearer_level_or_in_proportion_to_the_distance) {
  EXPECT_EQ(through("e3m0:rounding=nearest", {1, 0.74f, 0.76f, -0.3f, 0.007f, 0.009f}),
            (std::vector<float>{1, 0.5f, 1, -0.25f, 0, 0x1p-6f}));
  std::vector<float> values(10'001, 0.8f);
  values.front() = -1;
  const auto rounded = through("e3m0", values);
  const auto up = std::ranges::count(rounded, 1.0f), down = std::ranges::count(rounded, 0.5f);
  EXPECT_EQ(up + down, 10'000);
  EXPECT_NEAR(static_cast<double>(up), 6000, 4.5 * std::sqrt(10'000 * 0.6 * 0.4));
}

TEST(e3m0, has_the_error_of_its_formula) {
  buffer_pool pool;
  const vec v = test::random_vector(pool, 1000);
  const double scale = static_cast<double>(max_magnitude(v.view()));
  double expected = 0;
  for (const float x : v.view()) {
    const double share = std::abs(static_cast<double>(x)) / scale;
    const double below = share < 0x1p-6 ? 0 : std::exp2(std::floor(std::log2(share)));
    const double above = share < 0x1p-6 ? 0x1p-6 : 2 * below;
    expected += (share - below) * (above - share) * scale * scale;
  }
  EXPECT_NEAR(test::mean_square_error(*make_codec("e3m0"), v, randomness, 300), expected, 0.03 * expected);
}

TEST(e3m0, has_a_scale_for_each_bucket) {
  const auto codec = make_codec("e3m0:bucket=3");
  EXPECT_EQ(codec->bits(7), 3 * 32 + 7 * 4);
  EXPECT_EQ(through("e3m0:bucket=3", {1, 0, 0.5f, 1e-20f, -0.5e-20f, 0, 1e20f}),
            (std::vector<float>{1, 0, 0.5f, 1e-20f, -0.5e-20f, 0, 1e20f}));
  EXPECT_EQ(through("e3m0", {1e20f, 1e-20f})[1], 0) << "under one scale the small ones vanish";
}

TEST(e3m0, sends_zeros_where_levels_would_lose_precision) {
  const float least = std::ldexp(std::numeric_limits<float>::min(), 6);
  EXPECT_EQ(through("e3m0", {least}), std::vector{least});
  EXPECT_EQ(through("e3m0", {std::nextafter(least, 0.0f)}), std::vector{0.0f});
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(through("e3m0", {largest, -largest}), (std::vector{largest, -largest}));
}

TEST(e3m0, refuses_codes_and_scales_that_it_never_sends) {
  buffer_pool pool;
  auto good = make_codec("e3m0")->encode(vec{pool, std::vector<float>{1, 0.5f}}, randomness, 0);
  const auto altered = [&](std::size_t byte, std::byte value) {
    auto bad = good;
    bad.payload = pool.allocate(good.payload.size());
    std::ranges::copy(good.payload.bytes(), bad.payload.data());
    bad.payload.data()[byte] = value;
    return bad;
  };
  EXPECT_THROW(static_cast<void>(decode(altered(4, std::byte{0xFF}))), error) << "there is no code 15";
  EXPECT_THROW(static_cast<void>(decode(altered(3, std::byte{0xBF}))), error) << "a negative scale";
  EXPECT_THROW(static_cast<void>(decode(altered(3, std::byte{0x7F}))), error) << "not a number";
  EXPECT_THROW(static_cast<void>(decode(altered(3, std::byte{0x01}))), error) << "too small a scale";
}

} // namespace
} // namespace gossamer::compress
