// gossamer simulate with many seeds and interleavings, each in a process of its own.
#include <algorithm>
#include <csignal>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class exploration : public command {
protected:
  support::outcome explore(const words& more) const {
    const words settings{"simulate", "--data", "digits:samples=300,test=100", "--model", "softmax", "--steps", "10"};
    return run(settings + more);
  }
};

TEST_F(exploration, sums_up_all_runs_and_leaves_no_folder) {
  const auto ended = explore({"--seeds", "3..8", "--chaos", "1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, IsEmpty());
  EXPECT_THAT(ended.out, AllOf(StartsWith("    runs  failures  distinct hashes  final training loss\n"),
                               HasSubstr("       6         0                6  ")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(exploration, finds_the_same_whatever_the_number_of_processes) {
  const words twelve{"--seeds", "1..3", "--explore", "4", "--json", "--twice"};
  const auto one = explore(twelve + words{"--jobs", "1"});
  EXPECT_EQ(one.out, explore(twelve + words{"--jobs", "5"}).out);
  const auto told = json::parse(one.out);
  EXPECT_EQ(told["runs"], 12);
  EXPECT_EQ(told["distinct_hashes"], 12);
  EXPECT_LT(told["least_train_loss"], told["greatest_train_loss"]);
  EXPECT_THAT(told["failures"], IsEmpty());
}

TEST_F(exploration, explores_interleavings_of_one_seed) {
  const auto ended = explore({"--explore", "5", "--algorithm", "d-psgd", "--json"});
  EXPECT_EQ(json::parse(ended.out)["runs"], 5);
  const auto told = json::parse(ended.out);
  EXPECT_EQ(told["least_train_loss"], told["greatest_train_loss"]) << "the order of events must not matter";
}

TEST_F(exploration, ends_runs_that_take_too_long) {
  const words endless{"--seeds", "2..4", "--run-limit", "0.2", "--steps", "100000000", "--eval-every", "1e8"};
  const auto ended = explore(endless + words{"--jobs", "1"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("seed 2 failed: still ran after 0.2 real seconds\nno faults\nreplay: "),
                               HasSubstr(" --seeds 2..2 --run-limit 0.2\n")));
  EXPECT_EQ(ended.err, "gossamer: 1 of 1 runs failed\n");
  const auto all = explore(endless + words{"--keep-going"});
  EXPECT_EQ(all.err, "gossamer: 3 of 3 runs failed\n");
}

TEST_F(exploration, names_the_first_failure_and_its_plan) {
  const words divergent{"simulate", "--data",      "quadratic", "--model", "quadratic", "--lr",    "1e6",  "--steps",
                        "100",      "--optimiser", "sgd",       "--chaos", "1",         "--seeds", "5..20"};
  for (const char* jobs : {"1", "4"}) {
    const auto ended = run(divergent + words{"--jobs", jobs, "--out", "found here", "--overwrite"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.out, AllOf(StartsWith("seed 5 failed: "), HasSubstr("diverged"),
                                 HasSubstr("faults: found here/failed-5.toml\n  "),
                                 HasSubstr("--seed 5 --faults 'found here/failed-5.toml'")));
    EXPECT_TRUE(exists("found here/failed-5.toml"));
  }
}

TEST_F(exploration, tells_failures_when_they_are_found_and_sums_up_when_interrupted) {
  const words divergent{"simulate", "--data",  "quadratic",  "--model",     "quadratic", "--lr",
                        "1e6",      "--steps", "100",        "--optimiser", "sgd",       "--jobs",
                        "1",        "--seeds", "1..1000000", "--keep-going"};
  const auto ended = support::subprocess(gossamer(divergent)).signal_after("seed 3 failed", SIGINT).finish();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.out, AllOf(StartsWith("seed 1 failed: "), HasSubstr("\nseed 3 failed: "),
                               HasSubstr("    runs  failures  distinct hashes  final training loss\n")));
  EXPECT_THAT(ended.err, AllOf(StartsWith("gossamer: interrupted; "), HasSubstr(" of 1000000 wanted\n")));
}

TEST_F(exploration, leaves_no_process_when_its_terminal_is_gone) {
  const words endless{"simulate", "--data", "digits:samples=600,test=200", "--epochs", "1e8", "--jobs", "2"};
  const words some{"--seeds", "1..100000", "--run-limit", "2", "--keep-going"};
  const auto ended = support::subprocess(gossamer(endless + some)).signal_after("still ran", SIGHUP).finish();
  EXPECT_EQ(ended.status, 129) << ended.err; // a child that is left would keep the output open, and finish() waiting
}

TEST_F(exploration, leaves_the_results_where_they_are_wanted) {
  const auto ended = explore({"--seeds", "1..3", "--out", "found"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(json::parse(read("found/runs.json")), json::parse(explore({"--seeds", "1..3", "--json"}).out));
  const auto again = explore({"--seeds", "1..3", "--out", "found"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("found already holds the results of several runs; choose another folder"));
  EXPECT_EQ(explore({"--seeds", "1..3", "--out", "found", "--overwrite"}).status, 0);
}

TEST_F(exploration, refuses_what_it_cannot_run) {
  const auto expect_refused = [&](const words& flags, const std::string& said) {
    SCOPED_TRACE(testing::PrintToString(flags));
    const auto ended = explore(flags);
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, AllOf(StartsWith("gossamer: "), HasSubstr(said)));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  };
  expect_refused({"--seeds", "5"}, "--seeds is '5', which is not of the form A..B; for example 1..100");
  expect_refused({"--seeds", "5..x"}, "the last of --seeds is 'x'");
  expect_refused({"--seeds", "5..4"}, "the last of --seeds is 4");
  expect_refused({"--seeds", "1..9999999"}, "the last of --seeds is 9999999");
  for (const char* flag : {"--explore", "--jobs", "--run-limit"}) {
    expect_refused({flag, "0", "--seeds", "1..2"}, flag);
    expect_refused({flag, "x", "--seeds", "1..2"}, flag);
  }
  expect_refused({"--seeds", "1..3", "--network", "nowhere"}, "unknown network 'nowhere'");
  expect_refused({"--seeds", "1..3", "--patience", "0"}, "--patience is 0");
}

} // namespace
} // namespace gossamer
