#include "gossamer/apps/detail/progress.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gossamer::apps {
namespace {

using testing::_;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

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

actors::progress_record progress_at(double epoch, double loss) {
  return {.epoch = epoch, .planned_epochs = 4, .loss = loss, .steps_per_second = 1200, .remaining_s = 61};
}

TEST(a_picture_of_progress, has_a_bar_and_the_curve_of_the_loss) {
  progress_picture p;
  p.take(progress_at(0, 8));
  p.take(progress_at(1, 1));
  const auto lines = p.lines(true);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "epoch 1.00/4  1:01 left  [######..................]");
  EXPECT_THAT(lines[1], AllOf(StartsWith("loss 1.0000  accuracy -  1.2 k steps/s"), EndsWith("  █▁")));
  EXPECT_THAT(p.lines(false)[1], EndsWith("bit/s"));
}

TEST(a_picture_of_progress, keeps_the_shape_of_a_long_curve) {
  progress_picture p;
  for (int i = 1000; i > 0; --i)
    p.take(progress_at(1, i));
  const auto line = p.lines(true)[1];
  const auto curve = line.substr(line.rfind("  ") + 2);
  EXPECT_THAT(curve, AllOf(StartsWith("█"), EndsWith("▁")));
  EXPECT_LE(curve.size(), 3 * 64u) << "three bytes a character";
  EXPECT_GE(curve.size(), 3 * 32u);
}

TEST(a_picture_of_progress, has_a_line_for_each_member_of_a_few) {
  progress_picture p;
  p.take(progress_at(1, 1));
  p.take(actors::view_record{.members = {0, 2}});
  p.take(actors::workers_record{.time_s = 1, .of = {{10, 0, 0}, {5, 0, 0}, {20, 0, 0}}});
  EXPECT_EQ(p.lines(false).size(), 2u) << "there are no rates yet";
  p.take(actors::workers_record{.time_s = 3, .of = {{30, 4000, 0}, {5, 0, 0}, {20, 0, 0}}});
  EXPECT_THAT(p.lines(false), ElementsAre(_, _, " worker 0         30 steps       10 steps/s     2 k bit/s",
                                          " worker 2         20 steps        0 steps/s       0 bit/s"));
}

TEST(a_picture_of_progress, leaves_many_workers_out) {
  progress_picture p;
  actors::view_record everybody;
  actors::workers_record counts;
  counts.of.resize(17);
  for (std::uint32_t i = 0; i < 17; ++i)
    everybody.members.push_back(i);
  p.take(everybody);
  for (const double t : {1.0, 2.0}) {
    counts.time_s = t;
    p.take(counts);
  }
  EXPECT_EQ(p.lines(false).size(), 2u);
}

TEST(a_summary, says_what_is_in_no_count) {
  actors::run_summary s;
  s.algorithm = "d-psgd";
  EXPECT_THAT(describe(s), testing::Not(testing::HasSubstr("not counted")));
  s.unreported = 1;
  EXPECT_THAT(describe(s), EndsWith("apart\nnot counted: what 1 worker did last, before its node was lost\n"));
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
  EXPECT_THAT(describe(s), EndsWith("; raise --batch\n")) << "an algorithm of a program has other parameters";
  s.algorithm = "ad-psgd:owed=0";
  EXPECT_THAT(describe(s), EndsWith("; raise --batch or ad-psgd:in-flight, or set ad-psgd:owed\n"));
  s.final.averagings = {0, 0, 0};
  EXPECT_THAT(describe(s), EndsWith("apart\n")) << "nothing was counted";
  s.final.averagings = {102, 99, 890};
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
