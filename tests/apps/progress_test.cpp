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

TEST(a_summary, counts_averagings_of_pairs_and_warns_where_models_hardly_met) {
  actors::run_summary s;
  s.workers = 8;
  s.final.step = 1000;
  EXPECT_THAT(describe(s), EndsWith("apart\n"));
  s.final.averagings = {102, 100, 890};
  EXPECT_THAT(describe(s), EndsWith("apart\naveragings of pairs: 102 asked for, 100 done, 890 dropped\n"));
  s.final.averagings->done = 99;
  EXPECT_THAT(describe(s), testing::HasSubstr("dropped\nfewer than one gradient in ten came with an averaging"));
  s.workers = 1;
  EXPECT_THAT(describe(s), EndsWith("apart\n"));
}

TEST(a_line_of_progress, ends_with_the_averagings_of_pairs) {
  actors::progress_record p;
  p.averagings_per_step = 0.0277;
  EXPECT_THAT(progress_line(p), EndsWith("bit/s  0.03 averagings/step"));
}

} // namespace
} // namespace gossamer::apps
