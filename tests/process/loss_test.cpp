// Launched runs that end by losses: the messages about them, the files they leave, and their restart.
#include <csignal>

#include "launched_command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class lost_run : public launched_command {
protected:
  /// Writes a program for a host, with this script.
  std::string program(const std::string& name, const std::string& script) const {
    write(name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    return (folder_ / name).string();
  }

  /// Runs three processes without end, of which some are killed when the run is under way, and has a checkpoint if it
  /// saves some. A run that is started again is interrupted when it has evaluated.
  support::outcome killed(const std::vector<int>& nodes, const words& flags, const words& job = {}) const {
    support::subprocess launch(words{"env", "-C", folder_.string()}
                               + gossamer(words{"launch", "--hosts", "localhost:3"} + flags
                                          + words{"--", "train", "--data", "digits:samples=600,test=200", "--algorithm",
                                                  "d-psgd", "--eval-every", "1", "--epochs", "1e8", "--out", "run"}
                                          + job));
    const bool saves = !job.empty();
    const auto may_be_lost = [this, saves](const support::outcome& so_far) {
      return is_under_way(so_far) && so_far.err.find("epoch   2") != std::string::npos
             && (!saves || has_checkpoint("run"));
    };
    launch.when(may_be_lost, [&](const support::outcome& so_far) { kill_at_once(nodes, launch, so_far); });
    launch.then("all nodes are started again").then("\nepoch ", SIGINT);
    return launch.finish();
  }
};

TEST_F(lost_run, whose_leader_is_killed_at_the_start_says_so) {
  for (const char* before : {"", "printf '\\036listening on 127.0.0.1:1\\n'\n"}) {
    write("hosts.toml", "[[host]]\nbinary = '" + program("dies.sh", std::string{before} + "kill -9 $$\n")
                            + "'\n\n[[host]]\nbinary = '" + program("waits.sh", "exec sleep 100\n") + "'\n");
    const auto ended = run({"launch", "--hosts", "hosts.toml", "--patience", "0.5", "--", "train"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("node 0 on localhost, which leads, was killed by signal 9 (Killed) before the "
                                "run had begun"),
                      HasSubstr("its command was ")));
  }
}

TEST_F(lost_run, whose_node_ends_without_a_word_says_so) {
  write("hosts.toml", "[[host]]\n\n[[host]]\nbinary = '" + program("dies.sh", "exit 3\n") + "'\n");
  const auto ended = run({"launch", "--hosts", "hosts.toml", "--", "train"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("node 1 on localhost ended with status 3 and without a word; its command was "),
                    Not(HasSubstr(": ;"))));
}

TEST_F(lost_run, says_that_all_were_killed_and_what_is_left) {
  const auto without = killed({0, 1, 2}, {});
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err,
              AllOf(HasSubstr("nobody goes on with the run: node "), HasSubstr("killed by signal 9 (Killed)"),
                    HasSubstr("run has what was evaluated, and no checkpoint"), HasSubstr("--checkpoint")));
  std::filesystem::remove_all(folder_ / "run");
  const auto with = killed({0, 1, 2}, {}, {"--checkpoint", "3"});
  EXPECT_EQ(with.status, 1);
  EXPECT_THAT(with.err, AllOf(HasSubstr("and checkpoint "), HasSubstr("go on with --resume run")));
}

TEST_F(lost_run, leaves_what_those_have_that_are_too_few) {
  for (const auto& [nodes, survivor] : {std::pair{std::vector{0, 1}, 2}, std::pair{std::vector{1, 2}, 0}}) {
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = killed(nodes, {});
    const auto folder = "run/survivors/node-" + std::to_string(survivor);
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("nobody goes on with the run"), HasSubstr("what this node had come to is in "),
                      HasSubstr("go on with --resume " + folder)));
    EXPECT_FALSE(exists("run/checkpoints")) << "which are the run's";
    const auto exported = run({"export", folder, "--out", "model.npz"});
    EXPECT_EQ(exported.status, 0) << exported.err;
    EXPECT_EQ(read("model.npz"), read(folder + "/model.npz"));
    const auto resumed = run({"train", "--resume", folder, "--epochs", "40", "--out", "on", "--overwrite"});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_GE(metrics("on").back()["epoch"].get<double>(), 39) << "what was done before the loss counts once";
    const auto begun = run(small + words{"--initial", folder + "/model.npz", "--out", "anew", "--overwrite"});
    EXPECT_EQ(begun.status, 0) << begun.err;
  }
}

TEST_F(lost_run, begins_again_from_its_last_checkpoint) {
  const auto ended = killed({0, 1, 2}, {"--restart", "2"}, {"--checkpoint", "3"});
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("nobody goes on with the run"),
                               HasSubstr("all nodes are started again, from checkpoint "), HasSubstr("in run-2")));
  EXPECT_FALSE(exists("run/summary.json"));
  EXPECT_EQ(json::parse(read("run-2/summary.json"))["end"], "interrupted");
  EXPECT_THAT(read("run/launch.toml"), AllOf(HasSubstr("status = 1"), HasSubstr("goes_on_in = 'run-2'")));
  EXPECT_THAT(read("run-2/launch.toml"), HasSubstr("status = 130"));
  EXPECT_THAT(run({"status", "run"}).out, HasSubstr("run-2 has ended with status 130"));
}

TEST_F(lost_run, begins_again_from_the_mean_of_its_survivors) {
  const auto ended = killed({1, 2}, {"--restart", "9"});
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("from the mean of what 1 node of run had come to, in run-2")));
  EXPECT_TRUE(exists("run/survivors/model.npz"));
  EXPECT_EQ(json::parse(read("run-2/summary.json"))["end"], "interrupted");
}

TEST_F(lost_run, is_not_one_whose_leader_has_left) {
  std::string leader;
  support::subprocess launch(words{"env", "-C", folder_.string()}
                             + gossamer(words{"launch", "--hosts", "localhost:3", "--restart", "9", "--", "train",
                                              "--data", "digits:samples=600,test=200", "--algorithm", "d-psgd",
                                              "--eval-every", "1", "--epochs", "1e8", "--out", "run"}));
  launch
      .then("epoch   2",
            [&](const auto&) {
              const auto record = read("run/launch.toml");
              const auto begin = record.find("127.0.0.1:");
              leader = record.substr(begin, record.find_first_of("'\"", begin) - begin);
              EXPECT_EQ(run({"leave", leader}).status, 0);
            })
      .then("worker 0 has left; 2 go on")
      .then("\nepoch ", SIGINT); // the new leader's, which launch knows by then
  const auto ended = launch.finish();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("leads the run from now on"), Not(HasSubstr("is started again"))));
  EXPECT_THAT(read("run/launch.toml"), Not(HasSubstr(leader)));
}

} // namespace
} // namespace gossamer
