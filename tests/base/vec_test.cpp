#include "gossamer/base/philox.hpp"
#include "gossamer/base/vec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/each_instruction_set.hpp"

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

TEST(vec, a_part_shares_its_elements_until_one_of_them_is_written) {
  buffer_pool pool;
  vec a = ramp(pool, 10, 1);
  vec middle = a.part(4, 3);
  EXPECT_EQ(middle, (vec{pool, std::vector<float>{1, 2, 3}}));
  EXPECT_TRUE(middle.storage().shares_with(a.storage()));
  middle += middle;
  EXPECT_EQ(middle, (vec{pool, std::vector<float>{2, 4, 6}}));
  EXPECT_EQ(a, ramp(pool, 10, 1));

  const vec kept = a.part(8, 2);
  a.overwrite()[8] = 100;
  EXPECT_EQ(kept, (vec{pool, std::vector<float>{5, 6}}));
}

// The kernels equal the plain loops bit for bit, including the elements behind the last whole register.
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

TEST(assign_difference, returns_the_largest_magnitude_wherever_it_is) {
  for (std::size_t size : {1u, 15u, 16u, 33u, 100u})
    for (std::size_t at = 0; at < size; ++at) {
      std::vector<float> a(size, 0.5f), b(size, 1.0f), y(size);
      b[at] = 4.5f;
      ASSERT_EQ(assign_difference(y, a, b), 4.0f) << size << " at " << at;
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(y[i], i == at ? -4.0f : -0.5f) << i;
      b[at] = std::numeric_limits<float>::quiet_NaN();
      ASSERT_TRUE(std::isnan(assign_difference(y, a, b))) << size << " at " << at;
      b[at] = std::numeric_limits<float>::infinity();
      ASSERT_TRUE(std::isinf(assign_difference(y, a, b))) << size << " at " << at;
    }
  EXPECT_EQ(assign_difference({}, {}, {}), 0.0f);
}

TEST(squared_distance, is_the_sum_of_squares) {
  const std::vector<float> a{1, 2, 3}, b{1, 0, 6};
  EXPECT_EQ(squared_distance(a, b), 13.0);
}

/// Adds up in the order that docs/wire-format.md prescribes, written out plainly.
double in_order(const std::vector<double>& terms) {
  if (terms.size() > 4096) {
    std::vector<double> blocks;
    for (auto begin = terms.begin(); begin != terms.end();) {
      const auto end = begin + std::min<std::ptrdiff_t>(4096, terms.end() - begin);
      blocks.push_back(in_order({begin, end}));
      begin = end;
    }
    return in_order(blocks);
  }
  std::vector<double> sums(128, 0.0);
  for (std::size_t i = 0; i < terms.size(); ++i)
    sums[i % 128] += terms[i];
  for (std::size_t half : {64u, 32u, 16u, 8u, 4u, 2u, 1u})
    for (std::size_t j = 0; j < half; ++j)
      sums[j] += sums[j + half];
  return sums[0];
}

class sums_on : public test::each_instruction_set {};

TEST_P(sums_on, add_up_in_the_documented_order) {
  for (std::size_t size : {0u, 1u, 127u, 128u, 129u, 4095u, 4096u, 4097u, 100'003u, (1u << 24) + 4097u}) {
    std::vector<float> x(size);
    std::vector<double> squares, magnitudes;
    random_sequence random{{3, 0, purpose::synthetic}, size};
    for (float& value : x) {
      value = 2 * random.uniform() - 1;
      squares.push_back(static_cast<double>(value) * static_cast<double>(value));
      magnitudes.push_back(std::fabs(static_cast<double>(value)));
    }
    ASSERT_EQ(sum_of_squares(x), in_order(squares)) << size;
    ASSERT_EQ(sum_of_magnitudes(x), in_order(magnitudes)) << size;
    ASSERT_EQ(squared_distance(x, std::vector<float>(size)), in_order(squares)) << size;
  }
}

TEST_P(sums_on, of_rows_are_those_of_each_row) {
  constexpr auto largest = std::numeric_limits<float>::max();
  for (std::size_t size : {0u, 1u, 7u, 64u, 1000u, 9001u})
    for (std::size_t row : {1u, 2u, 3u, 8u, 10u, 63u, 64u, 65u, 128u, 129u, 4097u, 10'000u}) {
      std::vector<float> x(size);
      random_sequence random{{4, 0, purpose::synthetic}, size};
      for (float& value : x)
        value = static_cast<float>(random.normal());
      if (size > 5)
        x[5] = x[4] = largest;
      std::vector<float> norms((size + row - 1) / row);
      double all = 0;
      const double returned = norms_of_rows(x, row, norms);
      for (std::size_t r = 0; r < norms.size(); ++r) {
        const double sum = sum_of_squares(std::span{x}.subspan(r * row, std::min(row, size - r * row)));
        ASSERT_EQ(norms[r], static_cast<float>(std::min(std::sqrt(sum), static_cast<double>(largest)))) << row;
        all += sum;
      }
      ASSERT_NEAR(returned, all, 1e-12 * all) << size << " in rows of " << row;
      for (float bad : {std::numeric_limits<float>::infinity(), std::nanf("")})
        if (size > 0) {
          x[size / 2] = bad;
          EXPECT_FALSE(std::isfinite(norms_of_rows(x, row, norms)));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, sums_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

} // namespace
} // namespace gossamer
