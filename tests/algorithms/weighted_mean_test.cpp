// Weighted means and radial-directional averages.
#include "gossamer/actors/collectives/weighted_mean.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "normal_vector.hpp"

namespace gossamer::actors {
namespace {

using testing_support::normal;

vec of(std::vector<float> values) {
  buffer_pool pool;
  return vec{pool, values};
}

double length(const vec& v) { return std::sqrt(sum_of_squares(v.view())); }

vec radial(const std::vector<weighted>& all) {
  return radial_directional_mean(all, std::vector{segment{0, all.front().v.size()}});
}

TEST(contribution_weight, is_quantity_times_quality) {
  EXPECT_EQ(contribution_weight(64, 4), 64.0 * 64 / 4);
  EXPECT_EQ(contribution_weight(64, 8), contribution_weight(64, 4) / 2) << "as many samples, from more steps";
  EXPECT_EQ(contribution_weight(0, 4), 0);
  EXPECT_EQ(contribution_weight(0, 0), 0);
}

TEST(weighted_mean, divides_by_the_weights) {
  const auto mean = weighted_mean(std::vector<weighted>{{of({1, 2}), 30}, {of({5, -2}), 10}});
  EXPECT_FLOAT_EQ(mean[0], 2);
  EXPECT_FLOAT_EQ(mean[1], 1);
}

TEST(weighted_mean, of_equal_weights_is_the_sum_times_the_share_to_the_bit) {
  std::vector<weighted> all;
  for (std::uint32_t i = 0; i < 7; ++i)
    all.push_back({normal(100, i), 0.3});
  vec expected = all.front().v;
  for (std::size_t i = 1; i < all.size(); ++i)
    expected += all[i].v;
  expected *= 1.0f / 7;
  EXPECT_EQ(weighted_mean(all), expected);
}

TEST(radial_directional_mean, of_one_is_itself_and_of_zeros_zero) {
  const vec v = normal(1000, 1);
  const vec same = radial({{v, 17}});
  for (std::size_t k = 0; k < v.size(); ++k)
    ASSERT_NEAR(same[k], v[k], 1e-6f * std::abs(v[k]));
  EXPECT_EQ(radial({{of({0, 0}), 1}, {of({0, 0}), 2}}), of({0, 0}));
}

TEST(radial_directional_mean, is_as_long_as_vectors_that_are_orthogonal) {
  constexpr std::size_t many = 16, size = 100000;
  std::vector<weighted> all;
  for (std::uint32_t i = 0; i < many; ++i) {
    vec v = normal(size, i);
    v *= static_cast<float>(3 / length(v));
    all.push_back({v, 1});
  }
  EXPECT_NEAR(length(radial(all)), 3, 1e-5);
  EXPECT_NEAR(length(weighted_mean(all)), 3 / std::sqrt(many), 0.02);
}

TEST(radial_directional_mean, weighs_lengths_and_directions) {
  const auto v = radial({{of({3, 0}), 3}, {of({0, 5}), 1}});
  const double radius = (3 * 3 + 1 * 5) / 4.0;
  EXPECT_NEAR(v[0], radius * 3 / std::sqrt(10), 1e-6);
  EXPECT_NEAR(v[1], radius * 1 / std::sqrt(10), 1e-6);
}

TEST(radial_directional_mean, is_the_mean_where_directions_cancel_out) {
  EXPECT_EQ(radial({{of({1, 2}), 1}, {of({-3, -6}), 1}}), of({-1, -2}));
}

TEST(radial_directional_mean, is_finite_where_the_reciprocal_of_a_length_is_not) {
  EXPECT_EQ(radial({{of({2e-40f, 0}), 1}, {of({0, 4e-40f}), 1}}), of({1e-40f, 2e-40f}));
  EXPECT_EQ(radial({{of({2e-40f, 0}), 1}, {of({0, 4}), 1}}), of({0, 2}));
}

TEST(radial_directional_mean, is_taken_of_each_tensor) {
  const std::vector<weighted> all{{of({1, 0, 4, 0, 0}), 1}, {of({0, 1, 0, 0, 2}), 2}};
  const auto whole = radial_directional_mean(all, std::vector{segment{0, 2}, segment{2, 3}});
  const auto front = radial({{of({1, 0}), 1}, {of({0, 1}), 2}}),
             back = radial({{of({4, 0, 0}), 1}, {of({0, 0, 2}), 2}});
  EXPECT_EQ(whole, of({front[0], front[1], back[0], back[1], back[2]}));
}

TEST(tensors_within, cuts_tensors_at_the_edges_of_a_segment) {
  const std::vector<tensor_shape> tensors{{2, 3}, {1, 2}, {2, 2}};
  EXPECT_EQ(tensors_within(tensors, {0, 12}), (std::vector<segment>{{0, 6}, {6, 2}, {8, 4}}));
  EXPECT_EQ(tensors_within(tensors, {4, 6}), (std::vector<segment>{{0, 2}, {2, 2}, {4, 2}}));
  EXPECT_EQ(tensors_within(tensors, {6, 2}), (std::vector<segment>{{0, 2}}));
  EXPECT_EQ(tensors_within({}, {4, 6}), (std::vector<segment>{{0, 6}}));
}

} // namespace
} // namespace gossamer::actors
