#include "gossamer/base/vec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gossamer {
namespace {

vec ramp(buffer_pool& pool, std::size_t size, float slope) {
  vec v{pool, size};
  auto values = v.mutate();
  for (std::size_t i = 0; i < size; ++i)
    values[i] = slope * (static_cast<float>(i) - 3.0f);
  return v;
}

TEST(vec, writing_a_copy_leaves_the_original) {
  buffer_pool pool;
  vec a = ramp(pool, 10, 1);
  vec b = a;
  EXPECT_TRUE(a.storage().shares_with(b.storage()));
  b.mutate()[0] = 100;
  EXPECT_EQ(a[0], -3.0f);
  EXPECT_EQ(b[0], 100.0f);
  EXPECT_EQ(b[1], a[1]);
}

// The kernels equal the plain loops bit for bit, also behind the last whole register.
TEST(vec, arithmetic_equals_scalar_loops) {
  buffer_pool pool;
  for (std::size_t size : {0u, 1u, 7u, 16u, 31u, 33u, 1000u}) {
    const vec x = ramp(pool, size, 0.3f);
    const vec y = ramp(pool, size, -1.7f);
    vec sum = x + y, difference = x - y, axpy = x + 0.1f * y, back = x - 0.1f * y, product = 0.7f * x, twice = x;
    twice *= 2;
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(sum[i], x[i] + y[i]);
      EXPECT_EQ(difference[i], x[i] - y[i]);
      const float scaled_y = 0.1f * y[i];
      EXPECT_EQ(axpy[i], x[i] + scaled_y);
      EXPECT_EQ(back[i], x[i] - scaled_y);
      EXPECT_EQ(product[i], 0.7f * x[i]);
      EXPECT_EQ(twice[i], 2 * x[i]);
    }
  }
}

TEST(vec, repeated_arithmetic_allocates_nothing_once_warm) {
  buffer_pool pool;
  vec x = ramp(pool, 1000, 1);
  const vec y = ramp(pool, 1000, 2);
  const auto step = [&] {
    const vec sent = x; // shared while the step writes
    vec mixed = 0.5f * x;
    mixed += 0.5f * y;
    x = std::move(mixed);
    x -= 0.01f * y;
  };
  step();
  const auto warm = pool.blocks_created();
  for (int i = 0; i < 100; ++i)
    step();
  EXPECT_EQ(pool.blocks_created(), warm);
}

TEST(max_magnitude, finds_the_largest_wherever_it_is) {
  for (std::size_t size : {1u, 15u, 16u, 33u, 100u})
    for (std::size_t at = 0; at < size; ++at) {
      std::vector<float> v(size, -0.5f);
      v[at] = -4.0f;
      ASSERT_EQ(max_magnitude(v), 4.0f) << size << " at " << at;
      v[at] = std::numeric_limits<float>::quiet_NaN();
      ASSERT_TRUE(std::isnan(max_magnitude(v))) << size << " at " << at;
      v[at] = -std::numeric_limits<float>::infinity();
      ASSERT_TRUE(std::isinf(max_magnitude(v))) << size << " at " << at;
    }
  EXPECT_EQ(max_magnitude({}), 0.0f);
}

TEST(squared_distance, is_the_sum_of_squares) {
  const std::vector<float> a{1, 2, 3}, b{1, 0, 6};
  EXPECT_EQ(squared_distance(a, b), 13.0);
}

} // namespace
} // namespace gossamer
