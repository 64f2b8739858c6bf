// Launches and nodes that are refused: one sentence each, and nothing is left behind.
#include "launched_command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class refused : public launched_command {
protected:
  void expect(const words& given, int status, const words& said) const {
    SCOPED_TRACE(testing::PrintToString(given));
    const auto ended = run(given);
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    for (const auto& one : said)
      EXPECT_THAT(ended.err, HasSubstr(one));
    EXPECT_FALSE(exists("runs"));
  }
};

TEST_F(refused, wrong_flags_get_one_sentence) {
  const words job{"--", "train"};
  expect({"node"}, 2, {"either leads or joins"});
  expect(words{"node", "--listen", "127.0.0.1:0", "--join", "127.0.0.1:1"} + job, 2,
         {"more than one of --listen, --join"});
  expect({"node", "--listen", "127.0.0.1:0"}, 2, {"nothing to train", "-- train"});
  expect({"node", "--listen", "127.0.0.1:0", "--", "simulate"}, 2, {"train"});
  expect({"node", "--listen", "127.0.0.1:0", "--", "train", "--algoritm", "x"}, 2, {"did you mean --algorithm?"});
  expect(words{"node", "--listen", "0.0.0.0:0"} + job, 2, {"other machines reach", "--insecure"});
  expect(words{"node", "--listen", "nowhere"} + job, 2, {"nowhere"});
  expect(words{"node", "--listen", "127.0.0.1:99999"} + job, 2, {"99999"});
  expect(words{"node", "--join", "127.0.0.1:1"} + job, 2, {"joins is given a job"});
  expect({"node", "--join", "127.0.0.1:1", "--patience", "2", "--no-token"}, 1,
         {"nobody leads a run at 127.0.0.1:1", "it cannot be connected to"});
  expect({"node", "--listen", "127.0.0.1:0", "train"}, 2, {"'train' stands before --", "-- train"});
  expect({"node", "--join", "10.0.0.1:1"}, 2, {"--insecure"});
  expect({"node", "--slurm", "--", "train"}, 2, {"SLURM_PROCID is not set", "srun"});
  expect({"launch"}, 2, {"nothing to train"});
  expect(words{"launch", "--hosts", "localhost:0"} + job, 2, {"slots", "0"});
  expect(words{"launch", "--hosts", "localhost,far:2"} + job, 2, {"other machines cannot reach 127.0.0.1"});
  expect(words{"launch", "--hosts", ":3"} + job, 2, {"names no host"});
  expect(words{"launch", "--hosts", "absent.toml"} + job, 1, {"absent.toml", "No such file"});
  write("bad.toml", "[[host]]\nhosst = 'a'\n");
  expect(words{"launch", "--hosts", "bad.toml"} + job, 2, {"bad.toml:2", "did you mean 'host'?"});
  for (const char* no_variable : {"PATH", "-i", "-u=x", "=x", "A=1\\nB"}) {
    write("bad.toml", std::string{"[[host]]\nenvironment = [\""} + no_variable + "\"]\n");
    expect(words{"launch", "--hosts", "bad.toml"} + job, 2, {"bad.toml:2", "sets no variable", "NAME=VALUE"});
  }
  write("worse.toml", "[[machine]]\nhost = 'a'\n");
  expect(words{"launch", "--hosts", "worse.toml"} + job, 2, {"worse.toml:1", "machine", "[[host]]"});
  expect({"node", "--listen", "127.0.0.1:0", "--nodes", "9", "--", "train"}, 2, {"9 nodes", "4 workers"});
  expect({"train", "--", "train"}, 2, {"'--'"});
  expect(words{"launch", "--hosts", "localhost:5"} + words{"--", "train", "--workers", "4"}, 2,
         {"5 nodes", "4 workers"});
}

TEST_F(refused, a_node_that_does_not_start_ends_the_launch) {
  write("hosts.toml", "[[host]]\n\n[[host]]\nbinary = '/no/such/program'\n");
  const auto ended = run({"launch", "--hosts", "hosts.toml", "--", "train"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("node 1 on localhost ended with status 127"), HasSubstr("No such file"),
                               HasSubstr("its command was /no/such/program node --join")));
}

TEST_F(refused, a_leader_that_ends_without_a_word_is_named) {
  write("hosts.toml", "[[host]]\nbinary = '/bin/false'\n");
  const auto ended = run({"launch", "--hosts", "hosts.toml", "--", "train"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("node 0 on localhost, which leads, ended with status 1 and without a word"),
                               HasSubstr("its command was /bin/false node --listen")));
}

TEST_F(refused, a_run_to_which_nobody_comes_leaves_no_folder) {
  const words waits{"node", "--listen", "127.0.0.1:0", "--nodes", "2"}, job{"--", "train"};
  const auto alone = run(waits + words{"--wait", "1"} + job + words{"--out", "run"});
  EXPECT_EQ(alone.status, 1);
  EXPECT_THAT(alone.err, HasSubstr("not all of 2 nodes have come within 1 s"));
  EXPECT_FALSE(exists("run"));
  support::subprocess interrupted(words{"env", "-C", folder_.string()} + gossamer(waits + job));
  EXPECT_EQ(interrupted.signal_after("--join", SIGINT).finish().status, 130);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "runs"));
}

TEST_F(refused, a_device_of_the_first_host_that_there_is_not_is_named) {
  write("hosts.toml", "[[host]]\ndevice = 'tpu'\n\n[[host]]\n");
  expect({"launch", "--hosts", "hosts.toml", "--", "train", "--device", "cpu"}, 2, {"unknown device 'tpu'"});
}

TEST_F(refused, a_port_that_is_in_use_is_named) {
  support::outcome second;
  support::subprocess first(words{"env", "-C", folder_.string()}
                            + gossamer({"node", "--listen", "127.0.0.1:0", "--", "train"}));
  first.when("--join", [&](const support::outcome& so_far) {
    const auto address = so_far.err.substr(so_far.err.find("--join ") + 7);
    second = run({"node", "--listen", address.substr(0, address.find('\n')), "--", "train"});
  });
  first.signal_after("--join", SIGINT);
  EXPECT_NE(first.finish().status, 0);
  EXPECT_EQ(second.status, 1) << second.err;
  EXPECT_THAT(second.err, HasSubstr("cannot listen on 127.0.0.1:"));
}

} // namespace
} // namespace gossamer
