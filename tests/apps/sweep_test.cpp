#include "gossamer/apps/detail/sweep.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

namespace gossamer::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string refusal(const sweep_options& o) {
  try {
    static_cast<void>(grid_of(o));
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(sweep_grid, has_every_combination_and_every_seed) {
  const auto grid = grid_of({.vary = {"lr=0.1 0.2", "--codec=sign uniform:bits=8,rounding=16"}, .seeds = "3..4"});
  EXPECT_THAT(grid.keys, ElementsAre("lr", "codec"));
  ASSERT_THAT(grid.points, SizeIs(8));
  EXPECT_EQ(grid.points[0], (sweep_point{{"0.1", "sign"}, "3"}));
  EXPECT_EQ(grid.points[1], (sweep_point{{"0.1", "sign"}, "4"}));
  EXPECT_EQ(grid.points[2], (sweep_point{{"0.1", "uniform:bits=8,rounding=16"}, "3"}));
  EXPECT_EQ(grid.points[7], (sweep_point{{"0.2", "uniform:bits=8,rounding=16"}, "4"}));
}

TEST(sweep_grid, is_one_run_if_nothing_varies) { EXPECT_THAT(grid_of({}).points, ElementsAre(sweep_point{{}, ""})); }

TEST(sweep_grid, has_a_value_that_is_given_twice_once) {
  EXPECT_THAT(grid_of({.vary = {"lr=0.1 0.2 0.1"}}).points,
              ElementsAre(sweep_point{{"0.1"}, ""}, sweep_point{{"0.2"}, ""}));
}

TEST(sweep_grid, says_what_is_wrong) {
  EXPECT_THAT(refusal({.vary = {"lr"}}), HasSubstr("KEY=VALUE VALUE"));
  EXPECT_THAT(refusal({.vary = {"lr="}}), HasSubstr("KEY=VALUE VALUE"));
  EXPECT_THAT(refusal({.vary = {"=1"}}), HasSubstr("KEY=VALUE VALUE"));
  EXPECT_THAT(refusal({.vary = {"lr=1", "lr=2"}}), HasSubstr("names lr twice"));
  EXPECT_THAT(refusal({.vary = {"lr=1", "--seed=1 2"}, .seeds = "1..2"}), HasSubstr("names seed, and --seeds"));
  EXPECT_THAT(refusal({.vary = {"out=a b"}}), HasSubstr("--vary names out, and each run has a folder of its own"));
  EXPECT_THAT(refusal({.seeds = "5"}), HasSubstr("A..B"));
  EXPECT_THAT(refusal({.seeds = "5..4"}), HasSubstr("--seeds"));
  EXPECT_THAT(refusal({.vary = {"lr=1 2"}, .seeds = "0..99999"}), HasSubstr("more than 100000 runs"));
}

} // namespace
} // namespace gossamer::apps
