// gossamer sweep: a grid of runs, each in a process of its own.
#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class sweeping : public command {
protected:
  support::outcome sweep(const words& flags, const words& more = {}) const {
    const words job{"--", "simulate", "--data", "digits:samples=300,test=100", "--model", "softmax", "--steps", "20"};
    return run(words{"sweep"} + flags + job + more);
  }
};

TEST_F(sweeping, compares_all_settings_best_first_and_repeats_no_run) {
  const words grid{"--vary", "lr=0.001 0.5", "--vary", "algorithm=d-psgd all-reduce-sgd", "--seeds", "1..2"};
  const auto first = sweep(grid);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("lr     algorithm"), HasSubstr("test accuracy, %")));
  EXPECT_LT(first.out.find("0.5 "), first.out.find("0.001 ")) << "the larger rate learns in 20 steps";
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "sweep"))
    folders += entry.is_directory() && exists(entry.path() / "summary.json");
  EXPECT_EQ(folders, 8u);

  const auto written = last_write_time(folder_ / "sweep/lr=0.5,algorithm=d-psgd,seed=1/summary.json");
  const auto second = sweep(grid);
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(last_write_time(folder_ / "sweep/lr=0.5,algorithm=d-psgd,seed=1/summary.json"), written);
}

TEST_F(sweeping, goes_on_with_the_runs_that_are_missing) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  const auto more = sweep({"--vary", "lr=0.1 0.2"});
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_THAT(more.out, AllOf(HasSubstr("0.1 "), HasSubstr("0.2 ")));
}

TEST_F(sweeping, takes_divergence_for_a_result) {
  const words quadratic{"--data", "quadratic:samples=100,dim=10", "--model", "quadratic", "--steps", "100"};
  const auto ended = sweep({"--vary", "lr=0.001 1e6", "--by", "train-loss"}, quadratic);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("1, 1 diverged"));
}

TEST_F(sweeping, refuses_what_is_wrong_before_anything_runs) {
  EXPECT_THAT(sweep({"--vary", "lr=0.1 high"}).err, HasSubstr("--lr is 'high'"));
  EXPECT_THAT(sweep({"--vary", "rate=0.1"}).err, AllOf(HasSubstr("--rate"), Not(HasSubstr("terminate"))));
  EXPECT_THAT(run({"sweep", "--vary", "lr=0.1"}).err, HasSubstr("a sweep has no job"));
  EXPECT_FALSE(exists(folder_ / "sweep/lr=0.1"));
}

} // namespace
} // namespace gossamer
