#include "gossamer/apps/detail/progress.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gossamer::apps {
namespace {

using testing::EndsWith;

TEST(a_line_of_progress, fits_into_a_terminal_by_whole_parts) {
  EXPECT_EQ(fitted("epoch 1  loss 2  accuracy 3", 27), "epoch 1  loss 2  accuracy 3");
  EXPECT_EQ(fitted("epoch 1  loss 2  accuracy 3", 26), "epoch 1  loss 2");
  EXPECT_EQ(fitted("epoch 1  loss 2  accuracy 3", 15), "epoch 1  loss 2");
  EXPECT_EQ(fitted("epoch 1  loss 2  accuracy 3", 14), "epoch 1");
  EXPECT_EQ(fitted("epoch 1  loss 2  accuracy 3", 3), "epo");
  EXPECT_EQ(fitted("epoch 1  loss 2  accuracy 3", 0), "");
  EXPECT_EQ(fitted("", 80), "");
}

TEST(a_line_of_progress, says_in_eighty_columns_how_long_it_takes_and_who_is_there) {
  const auto line = progress_line({.epoch = 139.25,
                                   .planned_epochs = 200,
                                   .loss = 0.12345,
                                   .accuracy = 0.9712,
                                   .time_s = 60,
                                   .steps_per_second = 12'345,
                                   .bits_per_second = 4.56e9,
                                   .remaining_s = 5025,
                                   .nodes = 4,
                                   .nodes_lost = 1});
  EXPECT_GT(line.size(), 80u);
  EXPECT_THAT(line, EndsWith("12.3 k steps/s  4.56 G bit/s"));
  EXPECT_THAT(fitted(line, 79), EndsWith("accuracy 97.12 %  1:23:45 left  3 of 4 nodes"));
}

TEST(a_summary, says_what_is_in_no_count) {
  actors::run_summary s;
  s.algorithm = "d-psgd";
  EXPECT_THAT(describe(s), testing::Not(testing::HasSubstr("not counted")));
  s.unreported = 1;
  EXPECT_THAT(describe(s), EndsWith("apart\nnot counted: what 1 worker did last, before its process died\n"));
}

} // namespace
} // namespace gossamer::apps
