// Algorithms with real mistakes. The simulation finds each, shrinks the plan of faults under which it shows, and prints
// a command that shows it again.
#include <sstream>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class broken_program : public command {
protected:
  support::outcome simulate(const std::string& algorithm, const words& more) const {
    const words settings{"--algorithm", algorithm, "--data",    "digits:samples=300,test=100",
                         "--model",     "softmax", "--steps",   "20",
                         "--lr",        "0.01",    "--workers", "6"};
    return execute(words{BROKEN_GOSSIP, "simulate"} + settings + more);
  }

  /// Returns the rests of all lines that begin with a word.
  static words lines_behind(const std::string& beginning, const std::string& text) {
    words found;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(beginning))
        found.push_back(line.substr(beginning.size()));
    return found;
  }

  /// Expects the simulation to find the failure, and the printed commands to show the same message in a shell.
  void expect_found(const std::string& algorithm, const words& world, const std::string& message,
                    const std::string& smallest) const {
    SCOPED_TRACE(algorithm);
    const auto found = simulate(algorithm, world + words{"--seeds", "1..20", "--shrink"});
    EXPECT_EQ(found.status, 1);
    EXPECT_THAT(found.err, AllOf(StartsWith("broken_gossip: 1 of "), EndsWith(" runs failed\n")));
    EXPECT_THAT(found.out, AllOf(StartsWith("seed "), HasSubstr(smallest)));
    const auto commands = lines_behind("replay: ", found.out);
    ASSERT_THAT(commands, SizeIs(2)) << found.out;
    for (const auto& shown : commands) {
      SCOPED_TRACE(shown);
      const auto again = execute({"sh", "-c", shown});
      EXPECT_EQ(again.status, 1);
      const auto said = lines_behind("broken_gossip: ", again.err);
      ASSERT_THAT(said, SizeIs(1)) << again.err;
      EXPECT_THAT(said.front(), HasSubstr(message));
      EXPECT_THAT(found.out, HasSubstr(said.front())) << "the very same message, with its time";
    }
  }

  /// Expects no failure without faults.
  void expect_sound(const std::string& algorithm, const words& world) const {
    const auto ended = simulate(algorithm, world + words{"--seeds", "1..5"});
    EXPECT_EQ(ended.status, 0) << algorithm << ended.out;
  }
};

constexpr auto mixed_faults = R"([[fault]]
kind = "duplicate"
rate = 0.1
for = 0.05

[[fault]]
kind = "slow"
workers = [1, 4]
factor = 40
at = 0.01
for = 0.05

[[fault]]
kind = "drop"
rate = 0.05
from = [2]
for = 0.05
)";
const words steady{"--network", "uniform:latency=0.005"};

TEST_F(broken_program, that_sets_the_absolute_average_changes_the_sum_when_links_are_slow) {
  const words instant{"--network", "ideal"};
  expect_sound("broken-absolute-average", instant);
  expect_found("broken-absolute-average", instant + words{"--chaos", "1"}, "changed the sum of their models",
               "to 1 fault: ");
}

TEST_F(broken_program, that_may_miss_a_wake_up_hangs_when_a_gradient_takes_long) {
  write("plan.toml", mixed_faults);
  expect_sound("broken-wake-up", steady);
  expect_found("broken-wake-up", steady + words{"--faults", "plan.toml"}, "no step since ", "to 1 fault: ");
  EXPECT_THAT(read("failed-1-shrunk.toml"), HasSubstr("slow"));
}

TEST_F(broken_program, that_counts_twice_changes_the_sum_when_a_neighbour_is_early) {
  write("plan.toml", mixed_faults);
  expect_sound("broken-double-count", steady);
  expect_found("broken-double-count", steady + words{"--faults", "plan.toml"}, "the sum of the models changed by ",
               "to 1 fault: ");
  EXPECT_THAT(read("failed-1-shrunk.toml"), HasSubstr("slow"));
}

TEST_F(broken_program, that_fails_in_two_ways_is_not_shrunk_from_one_to_the_other) {
  write("plan.toml", R"([[fault]]
kind = "kill"
workers = [1]
at = 0.0112

[[fault]]
kind = "kill"
workers = [5]
at = 0.0113
for = 0.0013
)");
  const words plan{"--faults", "plan.toml", "--seeds", "1..1", "--shrink"};
  EXPECT_THAT(simulate("broken-wake-up", steady + plan).out,
              AllOf(HasSubstr("from 2 to 1 fault: "), HasSubstr("no step since ")))
      << "the second fault alone does it";
  EXPECT_THAT(simulate("broken-double-count", steady + plan).out,
              AllOf(HasSubstr("from 2 to 2 faults: "), HasSubstr("the sum of the models changed by ")))
      << "the second fault alone would make it hang, too";
}

TEST_F(broken_program, shrinks_the_plan_of_a_single_run_into_its_folder) {
  write("plan.toml", mixed_faults);
  const auto failed =
      simulate("broken-double-count", steady + words{"--faults", "plan.toml", "--shrink", "--out", "run"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, AllOf(StartsWith("shrunk in "), HasSubstr("from 3 to 1 fault: "),
                                HasSubstr("faults: run/failed-1-shrunk.toml\n")));
  EXPECT_THAT(failed.err, HasSubstr("the sum of the models changed by "));
  EXPECT_FALSE(exists("run/summary.json"));
  const auto again = execute({"sh", "-c", lines_behind("replay: ", failed.out).at(0)});
  EXPECT_THAT(again.err, HasSubstr("the sum of the models changed by "));
}

} // namespace
} // namespace gossamer
