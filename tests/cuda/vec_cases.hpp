#pragma once

#include "gossamer/base/vec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

// The promises of vec's arithmetic with elements on a device, for any device.
namespace gossamer::test {

/// Functions that bring a vector to one queue of a device, and to another.
struct vec_places {
  std::function<vec(const vec&)> here, beside;
};

inline bool is_on_device(const vec& v) { return v.remote() && v.remote()->on_device(); }

/// Returns numbers of many magnitudes.
inline vec numbers(std::size_t size, float from) {
  buffer_pool pool;
  vec v{pool, size};
  auto x = v.mutate();
  for (std::size_t i = 0; i < size; ++i)
    x[i] = std::sin(from + static_cast<float>(i)) * std::ldexp(1.0f, static_cast<int>(i % 40) - 20);
  return v;
}

inline void expect_arithmetic_of_the_host(std::size_t size, const vec_places& place) {
  const vec x = numbers(size, 1), g = numbers(size, 2);
  const auto all = [](vec y, const vec& z) {
    std::vector<vec> results;
    results.push_back(y += z);
    results.push_back(y -= z);
    results.push_back(y += 0.3f * z);
    results.push_back(y -= 1e-3f * z);
    results.push_back(y *= -1.7f);
    results.push_back(0.1f * y);
    results.push_back(y + z - 0.7f * z);
    results.push_back(y += y);
    return results;
  };
  const auto expected = all(x, g);
  const vec here = place.here(x), there = place.here(g), elsewhere = place.beside(g);
  const std::pair<vec, vec> operands[] = {{here, there}, {here, g}, {x, there}, {here, elsewhere}};
  for (const auto& [y, z] : operands) {
    const auto results = all(y, z);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_TRUE(is_on_device(results[k])) << k;
      EXPECT_EQ(results[k], expected[k]) << k;
    }
  }
  EXPECT_EQ(here, x) << "copies share elements until one is written";
  EXPECT_EQ(there, g);
}

/// Expects a read to bring elements to the host, and a write there to leave them there.
inline void expect_readers_and_writers_on_the_host(std::size_t size, const vec_places& place) {
  const vec x = numbers(size, 3);
  vec y = place.here(x);
  const vec copy = y;
  EXPECT_EQ(y.data(), copy.data()) << "brought there once for all copies";
  EXPECT_TRUE(is_on_device(y));
  y += x;
  EXPECT_EQ(y, x + x) << "the copy of the former elements is forgotten";
  EXPECT_EQ(copy, x);
  if (x.empty())
    return;
  y.mutate()[0] = 5;
  EXPECT_FALSE(is_on_device(y));
  EXPECT_EQ(y[0], 5);
  vec z = copy;
  std::ranges::fill(z.overwrite(), 2.0f);
  EXPECT_FALSE(is_on_device(z));
  EXPECT_EQ(z[0], 2);
  EXPECT_EQ(copy, x);
}

inline void expect_zeros_and_copies(std::size_t size, const vec_places& place) {
  const vec x = place.here(numbers(size, 4));
  const vec zeros = zeros_like(x);
  EXPECT_TRUE(is_on_device(zeros));
  EXPECT_THAT(zeros.view(), testing::Each(0));
  EXPECT_EQ(zeros.size(), size);
  EXPECT_FALSE(is_on_device(on_host(x)));
  EXPECT_EQ(on_host(x), x);
  EXPECT_FALSE(is_on_device(zeros_like(on_host(x))));
}

inline const auto vec_sizes = testing::Values<std::size_t>(0, 1, 3, 4, 31, 130, 5000);

} // namespace gossamer::test
