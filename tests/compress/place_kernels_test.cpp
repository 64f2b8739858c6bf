// What is kept at random, against loops over single elements.
#include "gossamer/base/philox.hpp"
#include "gossamer/compress/detail/place_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "support/each_instruction_set.hpp"

namespace gossamer::compress::detail {
namespace {

constexpr std::array<std::size_t, 12> sizes{0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 1000, 2048};
constexpr std::uint32_t first = 7000;

/// Returns zeros, numbers of all sizes, and the ends of the floats.
std::vector<float> many_values(std::size_t size) {
  std::vector<float> v(size);
  random_sequence random{{5, 0, purpose::synthetic}, size};
  for (float& x : v)
    x = std::ldexp(static_cast<float>(random.normal()), static_cast<int>(random.below(8)) - 4);
  constexpr std::array special{0.0f, -0.0f, std::numeric_limits<float>::denorm_min(),
                               -std::numeric_limits<float>::max()};
  for (std::size_t i = 3; i < size; i += 5)
    v[i] = special[i % special.size()];
  return v;
}

std::vector<std::uint32_t> words_of(std::size_t size) {
  std::vector<std::uint32_t> words(size);
  random_stream{6, 0, purpose::sparse}.fill(1, 0, words);
  if (size > 1)
    words[0] = 0, words[1] = ~0u;
  return words;
}

struct kept {
  std::vector<std::uint32_t> places;
  std::vector<float> values;
};

/// Calls a kernel with room for `size` elements.
template <class Kernel>
kept kept_by(std::size_t size, Kernel kernel) {
  kept result{std::vector<std::uint32_t>(size), std::vector<float>(size)};
  const auto count = kernel(kept_end{result.places.data(), result.values.data()});
  result.places.resize(count);
  result.values.resize(count);
  return result;
}

template <class Chooses>
kept kept_one_by_one(const std::vector<float>& v, Chooses chooses) {
  kept result;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (chooses(i)) {
      result.places.push_back(first + static_cast<std::uint32_t>(i));
      result.values.push_back(v[i]);
    }
  return result;
}

void expect_same(const kept& a, const kept& b) {
  EXPECT_EQ(a.places, b.places);
  EXPECT_EQ(a.values, b.values);
}

class place_kernels_on : public test::each_instruction_set {};

TEST_P(place_kernels_on, keep_what_is_marked) {
  for (auto size : sizes)
    for (std::uint64_t pattern : {0u, 1u, 0x8421u, 0x7FFFu}) {
      const auto v = many_values(size);
      std::vector<std::uint64_t> bits(size / 64 + 2);
      for (std::size_t w = 0; w < bits.size(); ++w)
        bits[w] = pattern * 0x0001'0003'0000'0101 * (w + 1);
      const auto chosen = [&](std::size_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; };
      const auto all = kept_by(size, [&](kept_end to) { return keep_places(bits.data(), size, first, to.places); });
      EXPECT_EQ(all.places, kept_one_by_one(v, chosen).places);
      expect_same(kept_by(size, [&](kept_end to) { return keep_marked(v, bits.data(), first, to); }),
                  kept_one_by_one(v, [&](std::size_t i) { return chosen(i) && v[i] != 0; }));
    }
}

TEST_P(place_kernels_on, keep_large_elements_more_often) {
  for (auto size : sizes)
    for (float level : {0.0f, 1e-40f, 0.3f, 2.0f, std::numeric_limits<float>::max()}) {
      const auto v = many_values(size);
      const auto words = words_of(size);
      const auto chosen = [&](std::size_t i) {
        const float m = std::fabs(v[i]), u = static_cast<float>(words[i] >> 8) * 0x1p-24f;
        return m > 0 && (u * level < m || level <= m);
      };
      expect_same(kept_by(size, [&](kept_end to) { return keep_large(v, words.data(), level, first, to); }),
                  kept_one_by_one(v, chosen));
    }
}

TEST_P(place_kernels_on, part_magnitudes_in_the_documented_order) {
  for (std::size_t size : {0u, 1u, 7u, 8u, 9u, 100u, 2047u, 2048u, 2049u, 5003u})
    for (double level : {0.0, 0.5, 3.0, std::numeric_limits<double>::infinity()}) {
      const auto v = many_values(size);
      std::array<double, 8> below{}, above{};
      for (std::size_t i = 0; i < size; ++i) {
        const auto m = static_cast<double>(std::fabs(v[i]));
        (m <= level ? below[i % 8] : above[i % 8]) += m <= level ? m : 1;
      }
      double sum = 0, count = 0;
      for (std::size_t j = 0; j < 8; ++j)
        sum += below[j], count += above[j];
      const auto parted = part_magnitudes(v, level);
      EXPECT_EQ(parted.below, sum) << size << " at " << level;
      EXPECT_EQ(parted.above, count) << size << " at " << level;
    }
}

std::vector<std::uint32_t> keys_of(std::span<const float> v) {
  std::vector<std::uint32_t> keys(v.size());
  std::ranges::transform(v, keys.begin(), [](float x) { return std::bit_cast<std::uint32_t>(std::fabs(x)); });
  return keys;
}

std::size_t reaching(std::span<const std::uint32_t> keys, std::uint32_t least) {
  return static_cast<std::size_t>(std::ranges::count_if(keys, [=](auto key) { return key >= least; }));
}

TEST_P(place_kernels_on, keep_elements_from_a_bound_on) {
  for (auto size : sizes)
    for (float least : {0.0f, std::numeric_limits<float>::denorm_min(), 0.5f, std::numeric_limits<float>::infinity()}) {
      const auto v = many_values(size);
      const auto key = std::bit_cast<std::uint32_t>(least);
      auto expected = kept_one_by_one(v, [&](std::size_t i) { return std::fabs(v[i]) >= least; }).places;
      for (auto& place : expected)
        place -= first;
      EXPECT_EQ(kept_by(size, [&](kept_end to) { return keep_at_least(v, key, to.places); }).places, expected);
    }
}

TEST_P(place_kernels_on, find_the_largest_of_each_group) {
  for (auto size : sizes)
    for (std::size_t groups : {1u, 3u, 16u, 256u}) {
      const auto v = many_values(size);
      const auto keys = keys_of(v);
      std::vector<std::uint32_t> expected(groups), maxima(groups, 7);
      for (std::size_t i = 0; i < size; ++i)
        expected[i % groups] = std::max(expected[i % groups], keys[i]);
      find_maxima(v, maxima);
      EXPECT_EQ(maxima, expected) << size << " in " << groups;
    }
}

TEST_P(place_kernels_on, cut_between_two_ranks) {
  for (auto size : sizes)
    for (std::size_t least : {std::size_t{1}, size / 3, size})
      for (std::size_t most : {least, least + least / 4}) {
        const auto keys = keys_of(many_values(size));
        if (least == 0 || least > size)
          continue;
        const auto bound = cut(keys, least, most);
        EXPECT_GE(reaching(keys, bound), least) << size;
        EXPECT_TRUE(reaching(keys, bound) <= most || reaching(keys, bound + 1) < least) << least << " of " << size;
      }
}

TEST_P(place_kernels_on, sort_keys) {
  for (auto size : sizes) {
    const auto keys = keys_of(many_values(size));
    auto expected = keys;
    std::ranges::sort(expected, std::greater{});
    std::vector<std::uint32_t> descending(size);
    sort_descending(keys, descending.data());
    EXPECT_EQ(descending, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, place_kernels_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::each_instruction_set::name);

} // namespace
} // namespace gossamer::compress::detail
