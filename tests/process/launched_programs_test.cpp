// What a launch bears of the programs that it starts, and of the one that has started it.
#include <csignal>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class launched_program : public command {
protected:
  /// Runs a script, whose $0 is the command.
  support::outcome shell(const std::string& script) const { return execute({"sh", "-c", script, GOSSAMER_COMMAND}); }

  /// Launches a script on one node, with its standard output shown.
  support::outcome launch(const std::string& script) const {
    return run({"launch", "--hosts", "localhost:1", "--", "sh", "-c", script});
  }

  static inline const std::string job = "train --data digits:samples=600,test=200 --epochs 1 --out run";
};

TEST_F(launched_program, may_say_what_nodes_say) {
  const auto ended = launch("echo node alpha rank 0; echo left; echo listening on port 8080");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("node alpha rank 0\nleft\nlistening on port 8080\n"));
}

TEST_F(launched_program, is_named_when_it_ends_before_it_has_joined) {
  const auto expect = [this](const std::string& script, const std::string& end) {
    const auto ended = run({"launch", "--hosts", "localhost:2", "--", "sh", "-c", script});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("gossamer: node 0 on localhost, which leads, ended with status " + end),
                                 HasSubstr(" before the run had begun; its command was "), HasSubstr(script)));
  };
  expect("exit 0", "0 and without a word");
  expect("echo one", "0: one");
  expect("echo no such file >&2; exit 2", "2: no such file");
}

TEST_F(launched_program, is_understood_behind_half_a_line) {
  write("node.sh", "case \"$GOSSAMER_NODE\" in\n*--join*) exec \"$1\" $GOSSAMER_NODE;;\nesac\n"
                   "printf 'loading 50 %%\\r'\n"
                   "exec \"$1\" $GOSSAMER_NODE --data digits:samples=600,test=200 --epochs 1 --out run\n");
  const auto ended = run({"launch", "--hosts", "localhost:2", "--", "sh", "node.sh", GOSSAMER_COMMAND});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("loading 50 %\r\n"), HasSubstr("test accuracy")));
}

TEST_F(launched_program, is_shown_while_it_runs) {
  support::subprocess launching(
      words{"env", "-C", folder_.string()}
      + gossamer({"launch", "--hosts", "localhost:1", "--", "sh", "-c", "echo here; sleep 60"}));
  launching.when("here\n", [&](const auto&) { launching.send_signal(SIGINT); });
  EXPECT_THAT(launching.finish().out, HasSubstr("here\n"));
}

TEST_F(launched_program, ends_the_launch_also_where_ends_are_ignored) {
  const auto ended = shell("trap '' CHLD; exec \"$0\" launch --hosts localhost:1 -- no-such-program");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("no-such-program"));
}

TEST_F(launched_program, needs_no_standard_input_of_the_launch) {
  const auto ended = shell("\"$0\" launch --hosts localhost:2 -- " + job + " <&-");
  EXPECT_EQ(ended.status, 0) << ended.err;
}

TEST_F(launched_program, goes_on_when_nobody_reads_the_launch_any_more) {
  shell("\"$0\" launch --hosts localhost:2 -- " + job + " 2>&1 | head -n 1");
  EXPECT_TRUE(exists("run/summary.json"));
}

TEST_F(launched_program, goes_on_like_a_run_of_one_process_that_nobody_reads) {
  shell("\"$0\" " + job + " 2>&1 | head -n 1");
  EXPECT_TRUE(exists("run/summary.json"));
}

} // namespace
} // namespace gossamer
