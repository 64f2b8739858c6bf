#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace gossamer {
namespace {

using testing::ElementsAre;

// The known-answer vectors of the authors' Random123 library (kat_vectors, philox4x32 10).
TEST(philox, equals_the_published_vectors) {
  EXPECT_THAT(philox4x32_10({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  constexpr auto ones = 0xffffffffu;
  EXPECT_THAT(philox4x32_10({ones, ones, ones, ones}, {ones, ones}),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(philox4x32_10({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(random_stream, fills_the_same_words_that_it_indexes) {
  const random_stream stream{7, 3, purpose::quantise};
  for (std::size_t size : {0u, 1u, 3u, 4u, 5u, 31u, 64u, 67u, 1000u}) {
    for (std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{8}, (std::uint64_t{1} << 34) - 16, std::uint64_t{1} << 35}) {
      std::vector<std::uint32_t> words(size);
      const auto step = std::uint64_t{5} << 31;
      stream.fill(step, first, words);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(words[i], stream.word(step, first + i)) << "size " << size << " first " << first << " i " << i;
    }
  }
}

TEST(random_stream, differs_by_seed_rank_purpose_and_step) {
  const auto base = random_stream{1, 0, purpose::data}.word(0, 0);
  EXPECT_NE(base, (random_stream{2, 0, purpose::data}.word(0, 0)));
  EXPECT_NE(base, (random_stream{1, 1, purpose::data}.word(0, 0)));
  EXPECT_NE(base, (random_stream{1, 0, purpose::quantise}.word(0, 0)));
  EXPECT_NE(base, (random_stream{1, 0, purpose::data}.word(1, 0)));
}

TEST(random_stream, shared_purposes_leave_the_rank_out) {
  EXPECT_EQ((random_stream{1, 0, purpose::shared_1}.key()), (random_stream{1, 9, purpose::shared_1}.key()));
  EXPECT_NE((random_stream{1, 0, purpose::shared_1}.key()), (random_stream{1, 0, purpose::shared_2}.key()));
}

/// Expects the mean and variance of `draw` over many draws to lie within 4.5 standard errors of the theory's.
template <class Draw>
void expect_moments(Draw draw, double mean, double variance, double fourth_central_moment) {
  constexpr int count = 200'000;
  std::vector<double> values(count);
  std::ranges::generate(values, draw);
  const double m = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double v = 0;
  for (double x : values)
    v += (x - mean) * (x - mean) / count;
  EXPECT_NEAR(m, mean, 4.5 * std::sqrt(variance / count));
  EXPECT_NEAR(v, variance, 4.5 * std::sqrt((fourth_central_moment - variance * variance) / count));
}

TEST(random_sequence, has_the_moments_of_its_distributions) {
  random_sequence r{random_stream{3, 0, purpose::synthetic}, 0};
  expect_moments([&] { return r.uniform(); }, 0.5, 1.0 / 12, 1.0 / 80);
  expect_moments([&] { return r.uniform_double(); }, 0.5, 1.0 / 12, 1.0 / 80);
  expect_moments([&] { return r.normal(); }, 0, 1, 3);
  for (double shape : {0.3, 1.0, 4.5}) // Gamma(k): mean k, variance k, fourth central moment 3k^2 + 6k
    expect_moments([&] { return r.gamma(shape); }, shape, shape, 3 * shape * shape + 6 * shape);
}

TEST(random_sequence, below_is_even_and_in_range) {
  random_sequence r{random_stream{3, 0, purpose::neighbour}, 0};
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i)
    ++counts.at(r.below(7));
  for (int count : counts)
    EXPECT_NEAR(count, 10'000, 4.5 * std::sqrt(10'000 * 6.0 / 7));
}

TEST(random_sequence, shuffle_keeps_the_items) {
  random_sequence r{random_stream{3, 0, purpose::data}, 0};
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  auto shuffled = items;
  r.shuffle(std::span{shuffled});
  EXPECT_NE(shuffled, items);
  EXPECT_THAT(shuffled, testing::UnorderedElementsAreArray(items));
}

} // namespace
} // namespace gossamer
