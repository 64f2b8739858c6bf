// Means of models along a tree over ranks.
#include "gossamer/actors/evaluation/partial_mean.hpp"
#include "gossamer/actors/evaluation/rank_tree.hpp"
#include "gossamer/actors/worker/life_range.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace gossamer::actors {
namespace {

using mean_tree = rank_tree<partial_mean>;

vec model_of(rank who, std::size_t dimension = 3) {
  buffer_pool pool;
  vec x{pool, dimension};
  random_sequence draw{{7, who, purpose::data}, 0};
  for (auto& value : x.overwrite())
    value = static_cast<float>(draw.uniform() - 0.3);
  return x;
}

partial_mean mean_of(const std::vector<rank>& ranks, std::size_t dimension = 3) {
  mean_tree tree{ranks};
  for (const auto i : ranks)
    tree.add({0, i}, {model_of(i, dimension)});
  return tree.parts().begin()->second;
}

void expect_same_bits(const partial_mean& a, const partial_mean& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.models, b.models);
  EXPECT_EQ(a.spread, b.spread);
}

std::vector<rank> up_to(rank n) {
  std::vector<rank> result(n);
  std::iota(result.begin(), result.end(), rank{0});
  return result;
}

std::vector<std::vector<rank>> all_subsets(rank n) {
  std::vector<std::vector<rank>> result;
  for (std::uint32_t chosen = 1; chosen < 1u << n; ++chosen) {
    result.emplace_back();
    for (rank i = 0; i < n; ++i)
      if ((chosen >> i & 1) != 0)
        result.back().push_back(i);
  }
  return result;
}

TEST(rank_tree, forms_the_mean_and_the_distance_that_double_precision_does) {
  for (rank n = 1; n <= 40; ++n)
    for (const std::size_t dimension : {std::size_t{1}, std::size_t{33}}) {
      const auto got = mean_of(up_to(n), dimension);
      std::vector<double> mean(dimension);
      for (rank i = 0; i < n; ++i)
        for (std::size_t k = 0; k < dimension; ++k)
          mean[k] += model_of(i, dimension)[k] / static_cast<double>(n);
      double spread = 0;
      for (rank i = 0; i < n; ++i)
        for (std::size_t k = 0; k < dimension; ++k)
          spread += std::pow(model_of(i, dimension)[k] - mean[k], 2);
      EXPECT_EQ(got.models, n);
      for (std::size_t k = 0; k < dimension; ++k)
        EXPECT_NEAR(got.mean[k], mean[k], 1e-6);
      EXPECT_NEAR(got.distance(), std::sqrt(spread / n), 1e-5 * std::sqrt(spread / n));
    }
}

TEST(rank_tree, finds_equal_models_to_be_at_no_distance_and_their_mean_to_be_one_of_them) {
  for (rank n = 1; n <= 40; ++n) {
    mean_tree tree{up_to(n)};
    for (rank i = 0; i < n; ++i)
      tree.add({0, i}, {model_of(0)});
    ASSERT_EQ(tree.parts().size(), 1u);
    EXPECT_EQ(tree.parts().begin()->second.distance(), 0);
    EXPECT_EQ(tree.parts().begin()->second.mean, model_of(0));
  }
}

TEST(rank_tree, comes_to_the_same_bits_in_every_order_whoever_is_missing) {
  for (const auto& there : all_subsets(5)) {
    const auto expected = mean_of(there);
    auto order = there;
    do {
      mean_tree tree{there};
      for (const auto i : order)
        tree.add({0, i}, {model_of(i)});
      ASSERT_EQ(tree.parts().size(), 1u);
      expect_same_bits(tree.parts().begin()->second, expected);
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(rank_tree, comes_to_the_same_bits_however_ranks_are_grouped) {
  for (std::uint64_t seed = 1; seed <= test::tries(300); ++seed) {
    random_sequence draw{{seed, 0, purpose::chaos}, 0};
    std::vector<rank> there;
    for (rank i = 0; i < 50; ++i)
      if (draw.below(5) != 0)
        there.push_back(i);
    const auto groups = 1 + draw.below(9);
    std::vector<mean_tree> group(groups, mean_tree{there});
    for (const auto i : there)
      group[draw.below(groups)].add({0, i}, {model_of(i)});
    mean_tree all{there};
    for (std::uint32_t left = groups; left > 0; --left) {
      const auto next = draw.below(left);
      all.add(group[next].parts());
      std::swap(group[next], group[left - 1]);
    }
    ASSERT_EQ(all.parts().size(), 1u);
    expect_same_bits(all.parts().begin()->second, mean_of(there));
  }
}

TEST(rank_tree, depends_on_who_is_there_and_leaves_holes_where_they_are) {
  const auto whole = mean_of({0, 1, 2, 3});
  expect_same_bits(merge(mean_of({0, 1}), mean_of({2, 3})), whole);
  expect_same_bits(merge(mean_of({0}), mean_of({2, 3})), mean_of({0, 2, 3}));
  expect_same_bits(merge(mean_of({0, 1}), mean_of({7})), mean_of({0, 1, 7}));
}

TEST(rank_tree, has_few_parts_of_neighbours) {
  for (rank n = 2; n <= 70; ++n)
    for (rank first = 0; first < n; ++first) {
      mean_tree tree{up_to(n)};
      for (rank last = first; last < n; ++last) {
        tree.add({0, last}, {model_of(last, 1)});
        const auto most = std::max(1.0, 2 * std::log2(last - first + 1.0));
        ASSERT_LE(static_cast<double>(tree.parts().size()), most) << first << " to " << last << " of " << n;
      }
    }
}

TEST(life_ranges, say_who_is_meant_and_nothing_else) {
  for (const auto& there : all_subsets(6))
    for (const std::uint32_t reborn : {0u, 3u, 7u}) {
      std::vector<life> lives;
      for (const auto i : there)
        lives.push_back({i, i == reborn});
      const auto ranges = ranges_of(lives);
      EXPECT_EQ(lives_in(ranges, 6), lives);
      if (there.back() == 5) {
        EXPECT_THROW(lives_in(ranges, 5), error);
      }
    }
  const auto everybody = lives_in(std::vector{life_range{0, 1000, 2}}, 1000);
  EXPECT_EQ(ranges_of(everybody), (std::vector{life_range{0, 1000, 2}})) << "thousands take no room";
  EXPECT_THROW(lives_in(std::vector{life_range{0, 4, 0}, life_range{2, 1, 0}}, 9), error);
  EXPECT_THROW(lives_in(std::vector{life_range{1, 0xFFFFFFFF, 0}}, 9), error);
}

} // namespace
} // namespace gossamer::actors
