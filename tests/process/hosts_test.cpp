// Settings of single hosts: the place of their data, and the program that starts their nodes.
#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class hosts_with_data : public command {
protected:
  void SetUp() override {
    command::SetUp();
    std::string rows;
    for (int k = 0; k < 60; ++k)
      rows += std::to_string(k % 7) + "," + std::to_string(k % 5) + "," + std::to_string(k % 2) + "\n";
    rows_ = rows;
  }

  support::outcome launch(const std::string& first, const std::string& second) const {
    write("hosts.toml", "[[host]]\ndata_dir = '" + first + "'\n\n[[host]]\ndata_dir = '" + second + "'\n");
    return run({"launch", "--hosts", "hosts.toml", "--", "train", "--data", "csv:train=sets/rows.csv", "--algorithm",
                "d-psgd", "--model", "softmax", "--epochs", "1", "--out", "run", "--overwrite"});
  }

  std::string rows_;
};

TEST_F(hosts_with_data, find_them_where_each_keeps_them) {
  write("here/sets/rows.csv", rows_);
  write("there/sets/rows.csv", rows_);
  const auto relative = launch("here", "there");
  EXPECT_EQ(relative.status, 0) << relative.err;
  EXPECT_THAT(read("run/config.toml"), HasSubstr("csv:train=sets/rows.csv"));
  const auto absolute = launch(folder_.string() + "/here", folder_.string() + "/there");
  EXPECT_EQ(absolute.status, 0) << absolute.err;
}

TEST_F(hosts_with_data, compare_what_is_in_them) {
  write("here/sets/rows.csv", rows_);
  write("there/sets/rows.csv", rows_ + "1,1,1\n");
  const auto ended = launch("here", "there");
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("another run"));
}

TEST_F(hosts_with_data, are_named_where_they_are_missing) {
  write("here/sets/rows.csv", rows_);
  const auto other = launch("here", "nowhere");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, AllOf(HasSubstr("node 1 on localhost ended with status 1: gossamer: on "),
                               HasSubstr("nowhere/sets/rows.csv': No such file")));
  const auto leader = launch("nowhere", "here");
  EXPECT_EQ(leader.status, 1);
  EXPECT_THAT(leader.err, AllOf(HasSubstr("gossamer: on "), HasSubstr("nowhere/sets/rows.csv': No such file")));
}

TEST_F(command, runs_on_a_machine_that_has_IPv6_alone) {
  const auto alone = [this](const words& given) {
    return execute(words{"unshare", "--net", "sh", "-c",
                         "ip link set lo up && ip addr del 127.0.0.1/8 dev lo && exec \"$0\" \"$@\""}
                   + given);
  };
  if (alone({"ip", "addr", "show", "to", "::1/128"}).out.empty())
    GTEST_SKIP() << "this user may not make a network namespace, or ip is not installed, or there is no IPv6";
  const auto launched =
      alone(gossamer(words{"launch", "--hosts", "localhost:2", "--"} + small + words{"--out", "launched"}));
  EXPECT_EQ(launched.status, 0) << launched.err;
  const auto watched = alone(gossamer(small + words{"--live", "0", "--out", "watched"}));
  EXPECT_EQ(watched.status, 0) << watched.err;
  EXPECT_THAT(watched.err, HasSubstr("http://[::1]:"));
}

TEST_F(command, shows_a_unit_that_systemd_understands) {
  if (execute({"sh", "-c", "command -v systemd-analyze"}).status != 0)
    GTEST_SKIP() << "systemd-analyze is not installed: apt-get install systemd";
  std::ifstream page(GOSSAMER_SOURCE_DIR "/docs/clusters.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}}, fence = "```ini\n",
                                                                    program = "/opt/gossamer/bin/gossamer";
  const auto begin = text.find(fence) + fence.size();
  auto unit = text.substr(begin, text.find("```", begin) - begin);
  const auto at = unit.find(program);
  ASSERT_NE(at, std::string::npos) << unit;
  write("gossamer.service", unit.replace(at, program.size(), GOSSAMER_COMMAND));
  const auto verified = execute({"systemd-analyze", "verify", "--man=no", "./gossamer.service"});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_THAT(verified.err, testing::Not(HasSubstr("gossamer.service")));
}

} // namespace
} // namespace gossamer
