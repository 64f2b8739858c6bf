#include <csignal>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

class interrupted_command : public command {
protected:
  /// A run that would take days, stopped by SIGINT after its first evaluation.
  support::outcome interrupt(const std::string& algorithm) const {
    const words endless{"train", "--data", "digits:samples=600,test=200", "--epochs", "1e8", "--eval-every", "1"};
    const auto out = (folder_ / "run").string();
    return support::subprocess(gossamer(endless + words{"--algorithm", algorithm, "--out", out}))
        .signal_after("epoch ", SIGINT)
        .finish();
  }
};

TEST_F(interrupted_command, ends_with_130_and_sums_up) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "ad-psgd"}) {
    SCOPED_TRACE(algorithm);
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = interrupt(algorithm);
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("interrupted"), HasSubstr("summary.json")));
    const auto summary = json::parse(read("run/summary.json"));
    EXPECT_EQ(summary["end"], "interrupted");
    if (algorithm != std::string{"ad-psgd"}) { // whose first gradients may not have been there yet
      EXPECT_GT(summary["step"], 0);
    }
    EXPECT_EQ(summary["step"], metrics().back()["step"]);
    EXPECT_TRUE(exists("run/plot.svg"));
  }
}

TEST_F(interrupted_command, stops_all_workers_at_the_same_step) {
  EXPECT_EQ(interrupt("d-psgd").status, 130);
  const auto steps = json::parse(read("run/summary.json"))["steps_per_worker"].get<std::vector<std::uint64_t>>();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_GT(steps.front(), 0u);
  EXPECT_THAT(steps, Each(steps.front()));
}

} // namespace
} // namespace gossamer
