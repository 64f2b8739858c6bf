#include "gossamer/apps/reproductions/detail/report.hpp"

#include <gmock/gmock.h>

namespace gossamer::apps {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

cell cell_of(const std::string& method, const std::string& setting, double loss) {
  return {.method = method,
          .setting = setting,
          .rate = 0.1,
          .values = {{"training loss", {loss}}},
          .curve = {{.train_loss = 2}, {.epoch = 1, .time_s = 3, .train_loss = loss}}};
}

reproduction two_methods(std::vector<variant> settings) {
  reproduction r{.name = "paper-figure", .title = "What it shows", .reference = "who", .differences = "how"};
  r.methods = {{"slow", {"--slow", "1:2x"}}, {"fast", {}}};
  r.settings = std::move(settings);
  r.rates = {0.1, 0.2};
  r.seeds = 1;
  r.measures = {training_loss()};
  r.numbers = {{"training loss", "fast", "", "0.3"}};
  r.shapes = {{"fast is lower", [](const findings& f) {
                 return at_most(f("training loss", "fast", f.cells.front().setting), 1,
                                f("training loss", "slow", f.cells.front().setting));
               }}};
  r.pictures = {{.kind = picture_kind::curves}};
  return r;
}

TEST(report, has_printed_numbers_beside_ours_and_says_what_came_back) {
  const auto r = two_methods({{}});
  findings f;
  f.command = "gossamer reproduce paper-figure";
  f.cells = {cell_of("slow", "", 0.5), cell_of("fast", "", 0.25)};
  EXPECT_THAT(markdown(r, f, {"a.svg"}),
              AllOf(HasSubstr("## paper-figure"), HasSubstr("| fast | 0.25 (paper: 0.3) | 0.1 |"),
                    HasSubstr("| slow | 0.5 | 0.1 |"), HasSubstr("(a.svg)"),
                    HasSubstr("rates 0.1, 0.2 by training loss"),
                    HasSubstr("| fast is lower | yes | training loss of fast = 0.25, at most training loss of slow"),
                    Not(HasSubstr("**no**"))));
  std::swap(f.cells[0].values, f.cells[1].values);
  EXPECT_THAT(markdown(r, f, {}), HasSubstr("| fast is lower | **no** |"));
}

TEST(report, tells_what_cannot_be_decided_from_what_did_not_come_back) {
  auto r = two_methods({{}});
  r.changes = "the bound was another one.";
  r.shapes.front().undecidable = "nobody knows";
  r.shapes.front().changed = true;
  findings f;
  f.cells = {cell_of("slow", "", 0.25), cell_of("fast", "", 0.5)}; // it would not have come back
  EXPECT_THAT(markdown(r, f, {}),
              AllOf(HasSubstr("marked with * below: the bound was"),
                    HasSubstr("| fast is lower * | cannot be decided here | nobody knows (training loss of fast = 0.5"),
                    Not(HasSubstr("**no**"))));
  const auto judged = judge(r, f).front();
  EXPECT_FALSE(judged.came_back());
  EXPECT_FALSE(judged.missing());
}

TEST(report, has_a_line_for_each_setting_where_there_are_several) {
  const auto r = two_methods({{"near", {}, 1}, {"far", {}, 2}});
  findings f;
  f.cells = {cell_of("slow", "near", 1), cell_of("slow", "far", 2), cell_of("fast", "near", 3),
             cell_of("fast", "far", 4)};
  EXPECT_THAT(markdown(r, f, {}), AllOf(HasSubstr("| training loss | slow | fast |"), HasSubstr("| near | 1 | 3 |"),
                                        HasSubstr("| far | 2 | 4 |")));
}

TEST(report, says_what_diverged) {
  const auto r = two_methods({{}});
  findings f;
  f.cells = {cell_of("slow", "", std::numeric_limits<double>::infinity()), cell_of("fast", "", 0.25)};
  f.cells.front().curve.clear();
  f.cells.front().diverged = {1};
  EXPECT_THAT(markdown(r, f, {}), HasSubstr("| slow | diverged | 0.1 |"));
}

TEST(report, says_how_many_seeds_diverged_and_leaves_them_out_of_the_mean) {
  auto r = two_methods({{}});
  r.seeds = 3;
  r.measures = {test_accuracy()};
  r.shapes.clear();
  findings f;
  f.cells = {cell_of("slow", "", 0.5), cell_of("fast", "", 0.25)};
  f.cells[0].values = {{test_accuracy().name, {90, 0, 92}}};
  f.cells[0].diverged = {2}; // not the first, which has the curve
  f.cells[1].values = {{test_accuracy().name, {90, 90, 90}}};
  EXPECT_THAT(markdown(r, f, {}), AllOf(HasSubstr("| slow | 91 +- 10, 1 of 3 diverged | 0.1 |"),
                                        HasSubstr("| fast | 90 | 0.1 |"), Not(HasSubstr("60.67"))));
  EXPECT_THAT(csv(f), AllOf(HasSubstr("%\",1,90\n"), HasSubstr("\"slow\",\"\",0.1,\"test accuracy, %\",2,\n")));
}

TEST(report, says_that_one_seed_is_all_that_judges) {
  auto r = two_methods({{}});
  findings f;
  f.cells = {cell_of("slow", "", 0.5), cell_of("fast", "", 0.25)};
  EXPECT_THAT(markdown(r, f, {}), HasSubstr("One seed, on which the claims are judged."));
  r.seeds = 3;
  EXPECT_THAT(markdown(r, f, {}), AllOf(HasSubstr("Means of 3 seeds"), Not(HasSubstr("One seed"))));
}

TEST(report, writes_a_line_for_each_number) {
  findings f;
  f.cells = {cell_of("fast", "", 0.25)};
  f.cells.front().values["training loss"].push_back(std::numeric_limits<double>::infinity());
  EXPECT_EQ(csv(f), "method,setting,rate,measure,seed,value\n"
                    "\"fast\",\"\",0.1,\"training loss\",1,0.25\n"
                    "\"fast\",\"\",0.1,\"training loss\",2,\n");
}

TEST(report, draws_a_line_for_each_method_also_of_what_diverged) {
  auto r = two_methods({{"near", {}, 1}, {"far", {}, 2}});
  r.pictures = {{.kind = picture_kind::curves, .log_y = true},
                {.kind = picture_kind::points, .x = "distance", .y = "training loss"},
                {.kind = picture_kind::bars, .y = "loss", .stacked = {"training loss"}}};
  findings f;
  f.cells = {cell_of("slow", "near", 1), cell_of("slow", "far", std::numeric_limits<double>::infinity()),
             cell_of("fast", "near", 3), cell_of("fast", "far", 4)};
  f.cells[1].curve.clear();
  const auto pictures = svgs(r, f);
  ASSERT_EQ(pictures.size(), 3u);
  for (const auto& svg : pictures)
    EXPECT_THAT(svg, AllOf(HasSubstr("</svg>"), Not(HasSubstr("inf")), Not(HasSubstr("nan"))));
  EXPECT_THAT(pictures[0], AllOf(HasSubstr("near"), HasSubstr("far"), HasSubstr("slow"), HasSubstr("fast")));
  EXPECT_THAT(pictures[1], HasSubstr("distance"));
}

TEST(verdicts, say_what_was_compared) {
  EXPECT_TRUE(at_most({1, "a"}, 2, {0.5, "b"}).holds);
  EXPECT_FALSE(at_most({1.1, "a"}, 2, {0.5, "b"}).holds);
  EXPECT_FALSE(at_most({std::numeric_limits<double>::infinity(), "a"}, 1, {5, "b"}).holds);
  EXPECT_FALSE(
      at_most({std::numeric_limits<double>::infinity(), "a"}, 1, {std::numeric_limits<double>::infinity(), "b"}).holds);
  EXPECT_TRUE(at_most({1, "a"}, 1, {std::numeric_limits<double>::infinity(), "b"}).holds);
  EXPECT_FALSE(within({3, "a"}, 1, 2).holds);
  EXPECT_FALSE(surely_at_most({1, 0.5, 1.5, "a"}, 1.4).holds);
  EXPECT_TRUE(surely_at_most({1, 0.5, 1.5, "a"}, 1.5).holds);
  EXPECT_FALSE(surely_at_least({1, 0.5, 1.5, "a"}, 0.6).holds);
  EXPECT_TRUE(surely_at_least({1, 0.5, 1.5, "a"}, 0.5).holds);
  EXPECT_EQ(surely_at_least({1, 0.5, 1.5, "a"}, 0.5).evidence, "a = 1 (0.5 to 1.5), at least 0.5");
  EXPECT_FALSE(surely_within({1, 0.5, 1.5, "a"}, 0.6, 2).holds);
  EXPECT_FALSE(surely_within({1, 0.5, 1.5, "a"}, 0, 1.4).holds);
  EXPECT_TRUE(surely_within({1, 0.5, 1.5, "a"}, 0.5, 1.5).holds);
  EXPECT_EQ(surely_within({1, 0.5, 1.5, "a"}, 0.6, 2).evidence, "a = 1 (0.5 to 1.5), within 0.6 to 2");
  const auto both = within({1.5, "a"}, 1, 2) && within({9, "c"}, 1, 2);
  EXPECT_FALSE(both.holds);
  EXPECT_THAT(both.evidence, AllOf(HasSubstr("a = 1.5"), HasSubstr("c = 9")));
}

} // namespace
} // namespace gossamer::apps
