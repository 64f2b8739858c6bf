#include "gossamer/compute/stratified.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace gossamer::compute {
namespace {

TEST(a_stratified_sample, is_the_whole_of_a_small_set) {
  EXPECT_THAT(stratified_sample(0, 5), testing::IsEmpty());
  EXPECT_THAT(stratified_sample(3, 5), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(stratified_sample(3, 3), testing::ElementsAre(0, 1, 2));
}

TEST(a_stratified_sample, has_one_of_each_equal_part) {
  const auto drawn = stratified_sample(1001, 100);
  ASSERT_EQ(drawn.size(), 100u);
  for (std::size_t k = 0; k < 100; ++k) {
    EXPECT_GE(drawn[k], k * 1001 / 100);
    EXPECT_LT(drawn[k], (k + 1) * 1001 / 100);
  }
  EXPECT_EQ(drawn, stratified_sample(1001, 100));
}

TEST(a_stratified_sample, has_all_classes_of_a_set_that_has_them_in_turn) {
  for (const std::size_t samples : {29'999, 30'000, 60'000, 100'000}) { // samples at equal distances have one or five
    std::array<int, 10> of_class{};
    for (const auto i : stratified_sample(samples, 1000))
      ++of_class.at(i % 10);
    EXPECT_THAT(of_class, testing::Each(testing::AllOf(testing::Ge(60), testing::Le(140)))) << samples;
  }
}

} // namespace
} // namespace gossamer::compute
