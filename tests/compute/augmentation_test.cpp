#include "gossamer/compute/augmentation.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace gossamer::compute {
namespace {

const random_stream dice{1, 0, purpose::augment};

dataset pictures(std::size_t padding, bool mirror) {
  dataset data{.samples = 1, .features = 12, .shape = {2, 2, 3}};
  data.augmentation = {.padding = padding, .mirror = mirror};
  return data;
}

const std::vector<float> picture{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::vector<float> augmented(const dataset& data, std::uint64_t step, std::uint32_t sample = 0) {
  std::vector<float> result(12, -1.0f);
  augment(picture, result, data, dice, step, sample);
  return result;
}

TEST(augment, mirrors_every_row_of_every_channel_half_the_time) {
  const auto data = pictures(0, true);
  const std::vector<float> mirrored{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10};
  int count = 0;
  for (std::uint64_t t = 0; t < 1000; ++t) {
    const auto now = augmented(data, t);
    EXPECT_TRUE(now == picture || now == mirrored);
    count += now == mirrored;
  }
  EXPECT_NEAR(count, 500, 80);
}

TEST(augment, shifts_all_channels_alike_in_all_directions) {
  const auto data = pictures(1, false);
  std::set<std::vector<float>> seen;
  for (std::uint64_t t = 0; t < 500; ++t)
    seen.insert(augmented(data, t));
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_TRUE(seen.contains(picture));
  EXPECT_TRUE(seen.contains({0, 1, 2, 0, 4, 5, 0, 7, 8, 0, 10, 11})) << "to the right";
  EXPECT_TRUE(seen.contains({5, 6, 0, 0, 0, 0, 11, 12, 0, 0, 0, 0})) << "up, and to the left";
}

TEST(augment, is_a_function_of_step_and_sample) {
  const auto data = pictures(1, true);
  EXPECT_EQ(augmented(data, 3, 5), augmented(data, 3, 5));
  int differ = 0;
  for (std::uint32_t sample = 0; sample < 20; ++sample)
    differ += augmented(data, 3, sample) != augmented(data, 4, sample);
  EXPECT_GT(differ, 10);
}

} // namespace
} // namespace gossamer::compute
