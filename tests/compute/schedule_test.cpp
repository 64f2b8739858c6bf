#include "gossamer/compute/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gossamer::compute {
namespace {

double factor(std::string_view text, double epoch, double epochs = 100) {
  return make_schedule(text)->factor(epoch, epochs);
}

TEST(schedule, constant_is_one) {
  EXPECT_EQ(factor("constant", 0), 1);
  EXPECT_EQ(factor("constant", 1e9), 1);
}

TEST(schedule, steps_fall_at_their_epochs) {
  const auto* text = "steps:at=30+60,factor=0.1";
  EXPECT_EQ(factor(text, 0), 1);
  EXPECT_EQ(factor(text, 29.999), 1);
  EXPECT_EQ(factor(text, 30), 0.1);
  EXPECT_EQ(factor(text, 59.999), 0.1);
  EXPECT_DOUBLE_EQ(factor(text, 60), 0.01);
  EXPECT_DOUBLE_EQ(factor("steps:at=60+30,factor=0.1", 45), 0.1); // times may come in any order
}

TEST(schedule, cosine_warms_up_and_comes_down) {
  const auto* text = "cosine:warmup=4";
  EXPECT_EQ(factor(text, 0, 20), 0);
  EXPECT_EQ(factor(text, 1, 20), 0.25);
  EXPECT_EQ(factor(text, 4, 20), 1);
  EXPECT_NEAR(factor(text, 8, 20), 0.5 * (1 + std::sqrt(0.5)), 1e-15);
  EXPECT_NEAR(factor(text, 12, 20), 0.5, 1e-15);
  EXPECT_EQ(factor(text, 20, 20), 0);
  EXPECT_EQ(factor(text, 25, 20), 0); // after the plan
}

TEST(schedule, cosine_takes_extreme_warm_ups) {
  EXPECT_EQ(factor("cosine:warmup=0", 0, 10), 1);
  EXPECT_EQ(factor("cosine:warmup=5", 2, 10), 0.4);
  for (const char* text : {"cosine:warmup=10", "cosine:warmup=20"}) { // the plan would end within the warm-up
    EXPECT_EQ(factor(text, 2, 10), 0.4) << text;
    EXPECT_EQ(factor(text, 5, 10), 1) << text;
    EXPECT_EQ(factor(text, 10, 10), 0) << text;
  }
}

TEST(schedule, inverse_sqrt_falls_with_the_root) {
  EXPECT_EQ(factor("inverse-sqrt:offset=1", 0), 1);
  EXPECT_EQ(factor("inverse-sqrt:offset=1", 3), 0.5);
  EXPECT_EQ(factor("inverse-sqrt:offset=10", 80), 1.0 / 3);
}

TEST(schedule, all_stay_between_zero_and_one) {
  for (const auto& entry : schedules())
    for (double epochs : {0.0, 0.5, 1.0, 7.0, 100.0})
      for (int i = 0; i <= 40; ++i) {
        const double value = factor(entry.about.name, epochs * i / 40, epochs);
        EXPECT_TRUE(value >= 0 && value <= 1) << entry.about.name << " " << value;
      }
}

} // namespace
} // namespace gossamer::compute
