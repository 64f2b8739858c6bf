// The token of runs without certificates: nodes that get it, ways to find it, and the errors of all others.
#include <csignal>
#include <optional>
#include <sys/stat.h>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* some_token = "0123456789abcdef0123456789abcdef";

class token : public command {
protected:
  static inline const words endless{"--",          "train",  "--data",       "digits:samples=600,test=200",
                                    "--algorithm", "d-psgd", "--epochs",     "1e8",
                                    "--seconds",   "100",    "--eval-every", "5",
                                    "--out",       "run"};

  words in_folder(const words& environment, const words& given) const {
    return words{"env", "-C", folder_.string()} + environment + gossamer(given);
  }
  /// Runs a command as another user of this machine, who finds no token.
  support::outcome elsewhere(const words& environment, const words& given) const {
    const auto home = "XDG_STATE_HOME=" + (folder_ / "elsewhere").string();
    return support::subprocess(in_folder(words{home} + environment, given)).finish();
  }
  static std::string between(const std::string& text, const std::string& before, char end) {
    const auto at = text.find(before) + before.size();
    return text.substr(at, text.find(end, at) - at);
  }
  void write_private(const std::string& name, const std::string& content, mode_t mode) const {
    write(name, content);
    chmod((folder_ / name).c_str(), mode);
  }
};

TEST_F(token, is_printed_and_lets_in_whoever_is_given_it) {
  support::subprocess leader(in_folder({}, words{"node", "--listen", "127.0.0.1:0", "--nodes", "2"} + endless));
  support::outcome none, wrong, unasked;
  std::optional<support::subprocess> joined;
  std::string where, secret;
  leader.when("--join ", [&](const support::outcome& so_far) {
    where = between(so_far.err, "--join ", '\n');
    secret = between(so_far.err, "GOSSAMER_TOKEN=", ' ');
    none = elsewhere({}, {"node", "--join", where});
    wrong = elsewhere({std::string{"GOSSAMER_TOKEN="} + some_token}, {"node", "--join", where});
    unasked = elsewhere({}, {"status", where, "--no-token", "--patience", "3"});
    write_private("secret", secret + "\n", 0600);
    joined.emplace(words{"env", "-C", folder_.string(), "XDG_STATE_HOME=" + (folder_ / "elsewhere").string()}
                   + gossamer({"node", "--join", where, "--token-file", "secret"}));
  });
  support::outcome asked;
  leader.when("epoch ", [&](const auto&) { asked = elsewhere({"GOSSAMER_TOKEN=" + secret}, {"stop", where}); });
  const auto led = leader.finish();
  EXPECT_EQ(led.status, 130) << led.err;
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted") << "nobody had planned it";
  EXPECT_EQ(secret.size(), 32U) << led.err;
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("neither a token nor certificates are given for the run at " + where),
                              HasSubstr("prints the token, with the line"), HasSubstr("GOSSAMER_TOKEN"),
                              HasSubstr("--token-file")));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr(where + " does not accept this token"), HasSubstr("GOSSAMER_TOKEN")));
  EXPECT_THAT(wrong.err, Not(HasSubstr(some_token)));
  EXPECT_EQ(unasked.status, 1);
  EXPECT_THAT(unasked.err,
              HasSubstr("it closes the connection, as a leader that asks for certificates or a token does"));
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_EQ(joined->finish().status, 0);
}

TEST_F(token, is_found_by_its_user_while_a_node_of_the_run_lives) {
  support::subprocess run(in_folder({}, words{"launch", "--hosts", "localhost:3"} + endless));
  support::outcome stranger, status, left;
  std::vector<std::filesystem::perms> kept;
  run.when("epoch ", [&](const auto&) {
    const auto leader = between(read("run/launch.toml"), "leader = '", '\'');
    stranger = elsewhere({}, {"status", leader});
    status = this->run({"status", leader});
    left = this->run({"leave", leader, "--node", "2"});
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "state/gossamer/tokens"))
      kept.push_back(file.status().permissions());
  });
  run.signal_after("node 2 has left", SIGINT);
  const auto ended = run.finish();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("GOSSAMER_TOKEN")));
  EXPECT_EQ(stranger.status, 2);
  EXPECT_THAT(stranger.err, HasSubstr("neither a token nor certificates are given"));
  EXPECT_EQ(status.status, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("3 of 3 nodes"));
  EXPECT_EQ(left.status, 0) << left.err;
  using std::filesystem::perms;
  EXPECT_THAT(kept, testing::Each(perms::owner_read | perms::owner_write));
  EXPECT_THAT(kept, testing::SizeIs(testing::Ge(3U)));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "state/gossamer/tokens"));
}

TEST_F(token, stands_in_no_words_of_a_command) {
  const words given{std::string{"GOSSAMER_TOKEN="} + some_token};
  support::subprocess run(in_folder(given, words{"launch", "--hosts", "localhost:2"} + endless));
  std::vector<std::string> commands;
  run.when("epoch ", [&](const auto&) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream in(entry.path() / "cmdline", std::ios::binary);
      const std::string line{std::istreambuf_iterator<char>(in), {}};
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path() / "cwd", gone) == folder_)
        commands.push_back(line);
    }
  });
  run.signal_after("epoch ", SIGINT);
  EXPECT_EQ(run.finish().status, 130);
  EXPECT_THAT(commands, testing::SizeIs(testing::Ge(3U)));
  EXPECT_THAT(commands, testing::Each(Not(HasSubstr(some_token))));
}

TEST_F(token, of_a_process_that_was_killed_is_not_found) {
  support::subprocess leader(in_folder({}, words{"node", "--listen", "127.0.0.1:0", "--nodes", "2"} + endless));
  std::string where;
  leader.when("--join ", [&](const auto& so_far) { where = between(so_far.err, "--join ", '\n'); })
      .signal_after("--join ", SIGKILL);
  leader.finish();
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "state/gossamer/tokens"));
  const auto late = run({"node", "--join", where});
  EXPECT_EQ(late.status, 2);
  EXPECT_THAT(late.err, HasSubstr("neither a token nor certificates are given"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "state/gossamer/tokens"));
}

TEST_F(token, that_is_none_gets_one_sentence) {
  const auto expect = [this](const words& environment, const words& flags, int status, const std::string& sentence) {
    SCOPED_TRACE(sentence);
    const auto ended = execute(environment + gossamer(words{"node", "--join", "127.0.0.1:1"} + flags));
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(sentence));
  };
  expect({"env", "GOSSAMER_TOKEN=short"}, {}, 2, "GOSSAMER_TOKEN holds no token: it has 5 characters");
  expect({}, {"--token-file", "absent"}, 1, "cannot read the token in 'absent': No such file");
  write_private("public", std::string{some_token} + "\n", 0644);
  expect({}, {"--token-file", "public"}, 2, "others can read the token in 'public'");
  write_private("empty", "", 0600);
  expect({}, {"--token-file", "empty"}, 2, "'empty' holds no token: it is empty");
  expect({}, {"--token-file", "-"}, 2, "standard input holds no token: it is empty");
  expect({}, {"--token-file", "empty", "--no-token"}, 2, "--no-token");
  const auto alike = run({"node", "--rendezvous", "127.0.0.1:1", "--nodes", "2", "--number", "0", "--", "train"});
  EXPECT_EQ(alike.status, 2);
  EXPECT_THAT(alike.err, AllOf(HasSubstr("started alike"), HasSubstr("openssl rand -hex 16")));
}

TEST_F(token, of_a_user_without_a_home_has_to_be_given) {
  const words homeless{"env", "-u", "XDG_STATE_HOME", "-u", "HOME"};
  const auto joined = execute(homeless + gossamer({"node", "--join", "127.0.0.1:1"}));
  EXPECT_EQ(joined.status, 2);
  EXPECT_THAT(joined.err, AllOf(HasSubstr("for the run at 127.0.0.1:1, and neither XDG_STATE_HOME nor HOME says where "
                                          "to find some; whoever leads the run prints the token"),
                                HasSubstr("--token-file")));
  const auto launched = execute(homeless
                                + gossamer(words{"launch", "--hosts", "localhost:2", "--"} + small
                                           + words{"--algorithm", "d-psgd", "--out", "run"}));
  EXPECT_EQ(launched.status, 0) << launched.err;
  EXPECT_THAT(launched.err, AllOf(HasSubstr("nor HOME says where the token of a run is kept; set one of them, or give "
                                            "the run and later commands about it the same token, in GOSSAMER_TOKEN"),
                                  Not(HasSubstr("name the run's folder"))));
}

TEST_F(token, can_be_done_without) {
  const auto ended = run(words{"launch", "--hosts", "localhost:2", "--no-token", "--"} + small
                         + words{"--algorithm", "d-psgd", "--out", "launched"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  support::subprocess leader(
      in_folder({}, words{"node", "--listen", "127.0.0.1:0", "--no-token", "--nodes", "2"} + endless));
  support::outcome asked;
  leader.when("--join ", [&](const auto& so_far) {
    EXPECT_THAT(so_far.err, AllOf(HasSubstr(" --no-token\n"), Not(HasSubstr("GOSSAMER_TOKEN"))));
    asked = elsewhere({}, {"stop", between(so_far.err, "--join ", ' '), "--no-token"});
  });
  EXPECT_NE(leader.finish().status, 0);
  EXPECT_EQ(asked.status, 0) << asked.err;
}

} // namespace
} // namespace gossamer
