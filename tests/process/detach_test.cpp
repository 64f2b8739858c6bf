// Runs that are left behind, and ways for their users to come back to them.
#include <arpa/inet.h>
#include <csignal>
#include <sys/socket.h>
#include <sys/stat.h>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class detached : public command {
protected:
  /// A run that takes longer than any of these tests.
  static inline const words job{"--",           "train",  "--data",    "digits:samples=600,test=200",
                                "--algorithm",  "d-psgd", "--out",     "run",
                                "--epochs",     "1e8",    "--seconds", "100",
                                "--eval-every", "5"};

  void TearDown() override {
    const auto process = exists("run/launch.toml") && text("status").empty() ? text("process") : "";
    if (std::atoi(process.c_str()) > 1 && process != std::to_string(getpid()))
      kill(std::atoi(process.c_str()), SIGKILL); // the process lives, so no other has its number
    command::TearDown();
  }

  words at_home(const words& given) const {
    return words{"env", "-C", folder_.string(), "XDG_STATE_HOME=" + (folder_ / "state").string()} + gossamer(given);
  }
  support::outcome here(const words& given) const { return support::subprocess(at_home(given)).finish(); }

  support::outcome launch(const words& flags = {}, const words& more = {}) const {
    return here(words{"launch", "--detach", "--hosts", "localhost:2"} + flags + job + more);
  }

  /// Returns lines of launch.toml that name this process, which lives, as the launching one.
  static std::string own_record() {
    std::ifstream about("/proc/self/stat"), machine("/proc/sys/kernel/random/boot_id");
    std::string started, boot;
    for (int field = 1; field <= 22; ++field) // the name of this program has no spaces
      about >> started;
    machine >> boot;
    return "process = " + std::to_string(getpid()) + "\nstarted = " + started + "\nboot = '" + boot + "'\n";
  }

  /// Returns a value of launch.toml. Empty if it is missing.
  std::string text(const std::string& key) const {
    const auto all = "\n" + read("run/launch.toml"), before = "\n" + key + " = ";
    const auto at = all.find(before);
    auto value = at == std::string::npos ? "" : all.substr(at + before.size());
    value = value.substr(0, value.find('\n'));
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    return value;
  }
};

TEST_F(detached, runs_are_left_behind_and_stopped) {
  const auto launched = launch();
  ASSERT_EQ(launched.status, 0) << launched.err;
  EXPECT_THAT(launched.out, AllOf(HasSubstr("goes on by itself"), HasSubstr("gossamer status run"),
                                  HasSubstr("gossamer attach run"), HasSubstr("gossamer stop run")));
  for (const words& named : {words{"run"}, words{}}) {
    const auto status = here(words{"status"} + named);
    EXPECT_EQ(status.status, 0) << status.err;
    EXPECT_THAT(status.out, AllOf(HasSubstr("run runs as process "), HasSubstr("is led at 127.0.0.1:")));
  }
  const auto stopped = here({"stop"});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(stopped.out, "run has ended with status 130\n");
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");

  const auto after = here({"status", "run"});
  EXPECT_EQ(after.status, 0) << after.err;
  EXPECT_THAT(after.out, HasSubstr("run has ended with status 130"));
  const auto again = here({"stop", "run"});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, HasSubstr("run has ended with status 130; there is nothing to stop"));
  EXPECT_EQ(here({"attach"}).status, 130);
  EXPECT_THAT(here({"logs"}).out, AllOf(HasSubstr("[1 localhost] gossamer: this is node 1"), HasSubstr("epoch ")));
}

TEST_F(detached, runs_are_followed_to_their_end) {
  ASSERT_EQ(launch({}, {"--seconds", "1"}).status, 0);
  const auto ended = here({"attach"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.err, "run has ended with status 0\n");
  EXPECT_EQ(here({"logs", "--follow"}).out, read("run/output.log"));
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "seconds");
}

TEST_F(detached, runs_go_on_when_who_follows_them_leaves) {
  ASSERT_EQ(launch().status, 0);
  support::subprocess left(at_home({"attach"}));
  EXPECT_EQ(left.signal_after("epoch ", SIGINT).finish().status, 130);
  support::outcome stopped;
  support::subprocess stays(at_home({"attach"}));
  const auto ended = stays.when("epoch ", [&](const auto&) { stopped = here({"stop"}); }).finish();
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.out, HasSubstr("run holds config.toml"));
  EXPECT_EQ(ended.err, "run has ended with status 130\n");
}

TEST_F(detached, runs_answer_at_their_leaders_address) {
  ASSERT_EQ(launch().status, 0);
  const auto leader = text("leader");
  const auto status = here({"status", leader});
  EXPECT_EQ(status.status, 0) << status.err;
  EXPECT_THAT(status.out, AllOf(HasSubstr("d-psgd is led at " + leader), HasSubstr("2 of 2 nodes")));
  const auto stopped = here({"stop", leader});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr(leader + " has ended"));
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
  EXPECT_EQ(here({"attach"}).status, 130);
}

TEST_F(detached, runs_let_a_node_go_that_is_named) {
  ASSERT_EQ(launch().status, 0);
  const auto which = here({"leave"});
  EXPECT_EQ(which.status, 2);
  EXPECT_THAT(which.err, HasSubstr("it is not said which node of run shall leave; add --node N"));
  const auto named = here({"leave", "run", "--node", "1"});
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("node 1 leaves as soon as"));
  support::subprocess shown(at_home({"logs", "--follow"}));
  shown.when("node 1 has left", [&](const auto&) { here({"stop"}); });
  EXPECT_THAT(shown.finish().out, HasSubstr("worker 1 has left"));
  const auto late = here({"leave", "run", "--node", "1"});
  EXPECT_EQ(late.status, 1);
  EXPECT_THAT(late.err, HasSubstr("run has ended with status 130"));
}

TEST_F(detached, runs_answer_whoever_has_a_certificate) {
  ASSERT_EQ(here({"certs", "--hosts", "127.0.0.1"}).status, 0);
  ASSERT_EQ(launch({"--certs", "certs/127.0.0.1"}).status, 0);
  const auto leader = text("leader");
  EXPECT_THAT(here({"status", leader, "--certs", "certs/127.0.0.1"}).out, HasSubstr("2 of 2 nodes"));
  const auto stranger = here({"stop", leader, "--patience", "0.5", "--no-token"});
  EXPECT_EQ(stranger.status, 1);
  EXPECT_THAT(stranger.err, HasSubstr("nobody leads a run at " + leader));
  EXPECT_EQ(here({"stop", leader, "--certs", "certs/127.0.0.1"}).status, 0);
}

TEST_F(detached, runs_that_do_not_begin_say_why) {
  const auto ended = launch({}, {"--codec", "unifrom"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("unknown codec 'unifrom'"));
  EXPECT_FALSE(exists("run"));
}

TEST_F(detached, runs_are_interrupted_from_the_terminal_until_they_begin) {
  write("waits.sh", "#!/bin/sh\nexec sleep 100\n");
  std::filesystem::permissions(folder_ / "waits.sh", std::filesystem::perms::owner_all);
  write("hosts.toml", "[[host]]\n\n[[host]]\nbinary = '" + (folder_ / "waits.sh").string() + "'\n");
  std::filesystem::create_directory(folder_ / "run");
  std::filesystem::create_symlink("/dev/full", folder_ / "run/launch.toml.part"); // makes writing fail
  support::subprocess run(at_home(words{"launch", "--detach", "--patience", "1", "--hosts", "hosts.toml"} + job));
  run.signal_after("cannot write", SIGINT);
  const auto ended = run.finish();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("interrupted while it waited for nodes"));
}

TEST_F(detached, runs_whose_launch_was_killed_are_told_from_others) {
  ASSERT_EQ(launch().status, 0);
  const auto process = text("process");
  kill(static_cast<pid_t>(std::stol(process)), SIGKILL);
  const auto status = here({"attach"});
  EXPECT_EQ(status.status, 1);
  EXPECT_THAT(status.err, HasSubstr("process " + process + ", is gone and has not said how it ended"));
  write("run/launch.toml",
        "process = " + std::to_string(getpid()) + "\nstarted = 1\nboot = \"" + text("boot") + "\"\n");
  const auto reused = here({"stop"});
  EXPECT_EQ(reused.status, 1) << "another process has the number";
  EXPECT_THAT(reused.err, HasSubstr("is gone"));
}

TEST_F(detached, runs_that_were_started_again_are_found_by_their_first_folder) {
  write("run/launch.toml", "status = 1\ngoes_on_in = 'run-2'\n");
  write("run-2/launch.toml", "status = 1\ngoes_on_in = 'run-3'\n");
  write("run-3/launch.toml", "status = 3\n");
  write("run-3/output.log", "the last part\n");
  EXPECT_EQ(here({"status", "run"}).out, "run-3 has ended with status 3\n");
  EXPECT_EQ(here({"logs", "run"}).out, "the last part\n");
  const auto attached = here({"attach", "run"});
  EXPECT_EQ(attached.status, 3);
  EXPECT_EQ(attached.err, "run-3 has ended with status 3\n");
  EXPECT_THAT(here({"stop", "run"}).err, HasSubstr("run-3 has ended with status 3; there is nothing to stop"));
  EXPECT_THAT(here({"leave", "run", "--node", "1"}).err, HasSubstr("run-3 has ended with status 3; there is no node"));
  std::filesystem::create_directory(folder_ / "links");
  std::filesystem::create_directory_symlink(folder_ / "run", folder_ / "links/run");
  EXPECT_EQ(here({"status", "links/run"}).out, "run-3 has ended with status 3\n") << "it is beside the folder itself";
}

TEST_F(detached, runs_that_have_ended_say_what_they_have_come_to) {
  const std::string ended = "run has ended with status 0\n";
  write("run/launch.toml", "status = 0\nprogress = 'epoch 1.00/2  loss 2.0000  accuracy 50.00 %  1:27 left'\n");
  EXPECT_EQ(here({"status", "run"}).out, ended);
  write("run/summary.json",
        "{\n\"step\":9,\"epoch\":2,\"time_s\":3,\"train_loss\":0.5,\"test_loss\":0.25,\"test_accuracy\":0.75,\n"
        "\"consensus_distance\":0,\"payload_bits\":8,\"wire_bits\":9}\n");
  EXPECT_EQ(
      here({"status", "run"}).out,
      ended + "epoch   2.00     3.00 s  training loss 0.5000  test loss 0.2500  test accuracy  75.00 %  sent 8 bit\n");
}

TEST_F(detached, runs_that_go_on_nowhere_say_so) {
  write("run/launch.toml", "status = 1\ngoes_on_in = 'run-2'\n");
  const auto lost = here({"attach", "run"});
  EXPECT_EQ(lost.status, 2);
  EXPECT_THAT(lost.err, HasSubstr("run goes on in run-2, which holds no run that was launched; that folder was moved"));
  write("run-2/launch.toml", "status = 1\ngoes_on_in = 'run'\n");
  const auto round = here({"attach", "run"});
  EXPECT_EQ(round.status, 1);
  EXPECT_THAT(round.err, HasSubstr("the folders where run goes on lead back to run-2; remove goes_on_in"));
}

TEST_F(detached, runs_are_followed_into_the_folder_where_they_go_on) {
  const auto record = own_record();
  write("run/launch.toml", record);
  write("run/output.log", "the first part\n");
  support::subprocess attached(at_home({"attach", "run"}));
  attached.when("the first part", [&](const auto&) {
    write("run-2/launch.toml", "status = 3\n");
    write("run-2/output.log", "the second part\n");
    write("run/next.toml", record + "goes_on_in = 'run-2'\n");
    std::filesystem::rename(folder_ / "run/next.toml", folder_ / "run/launch.toml");
  });
  const auto ended = attached.finish();
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.out, "the first part\nthe second part\n");
  EXPECT_EQ(ended.err, "run-2 has ended with status 3\n");
}

TEST_F(detached, what_is_no_run_gets_one_sentence) {
  const auto expect = [&](const words& given, int status, const std::string& said) {
    const auto ended = here(given);
    EXPECT_EQ(ended.status, status) << testing::PrintToString(given);
    EXPECT_THAT(ended.err, HasSubstr(said));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  };
  expect({"status"}, 2, "no run was detached");
  expect({"stop", "absent"}, 2, "absent holds no run that was launched");
  expect({"attach", "127.0.0.1:1"}, 2, "gossamer status and gossamer stop");
  expect({"status", "127.0.0.1:1", "--no-token"}, 1, "nobody leads a run at 127.0.0.1:1");
  expect({"stop", "127.0.0.1:99999"}, 2, "its port is no number");
  expect({"status", "10.0.0.1:1"}, 2, "--insecure");
  write("run/launch.toml", "process = \"x\"\n");
  expect({"status", "run"}, 2, "launch.toml:1");
}

TEST_F(detached, a_strangers_port_is_told_from_a_leader) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&where), size), 0);
  ASSERT_EQ(listen(listener, 8), 0); // never answers
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size), 0);
  const auto address = "127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  for (const words& asks : {words{"status", address}, words{"node", "--join", address}}) {
    const auto ended = here(asks + words{"--patience", "0.5", "--no-token"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("nobody leads a run at " + address + ": it does not answer"));
  }
  close(listener);
}

class launched_run : public command {
protected:
  support::outcome launch(const words& more = {}) const {
    return run(words{"launch", "--hosts", "localhost:2", "--"} + small
               + words{"--algorithm", "d-psgd", "--workers", "4", "--out", "run"} + more);
  }
};

TEST_F(launched_run, keeps_what_each_node_has_said_and_how_it_ended) {
  const auto ended = launch();
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read("run/nodes/0.log"), AllOf(HasSubstr("node 1 of 2 is ready"), HasSubstr("epoch "),
                                             HasSubstr("test accuracy"), Not(HasSubstr("progress "))));
  EXPECT_THAT(read("run/nodes/1.log"), AllOf(HasSubstr("this is node 1"), HasSubstr("the run is over")));
  const auto nodes = json::parse(read("run/nodes/nodes.json"));
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0]["ranks"], "0,1");
  EXPECT_EQ(nodes[1]["ranks"], "2,3");
  for (const auto& node : nodes) {
    EXPECT_EQ(node["host"], "localhost");
    EXPECT_THAT(node["address"], testing::StartsWith("127.0.0.1:"));
    EXPECT_EQ(node["status"], 0);
    EXPECT_EQ(node["restarts"], 0);
  }
}

TEST_F(launched_run, refuses_a_folder_whose_name_breaks_a_line) {
  write("config.toml", "out = \"run\\nlistening on 127.0.0.1:1\"\n");
  for (const words& named : {words{"--out", "run\nlistening on 127.0.0.1:1"}, words{"--config", "config.toml"}}) {
    const auto ended = run(words{"launch", "--hosts", "localhost:2", "--"} + small + named);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr("--out is 'run\\x0alistening on 127.0.0.1:1', with a control character"));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << "nothing has started\n" << ended.err;
  }
  EXPECT_FALSE(exists("runs"));
}

TEST_F(launched_run, takes_bounded_lines_from_its_nodes) {
  write("endless_line.sh", "#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x >&2\nexit 3\n");
  std::filesystem::permissions(folder_ / "endless_line.sh", std::filesystem::perms::owner_all);
  write("hosts.toml", "[[host]]\n\n[[host]]\nbinary = '" + (folder_ / "endless_line.sh").string() + "'\n");
  const auto ended = run(words{"launch", "--hosts", "hosts.toml", "--"} + small + words{"--out", "run"});
  EXPECT_EQ(ended.status, 1);
  const auto sentence = ended.err.rfind("gossamer: node 1 on localhost ended with status 3: x");
  ASSERT_NE(sentence, std::string::npos);
  EXPECT_LT(ended.err.size() - sentence, 2000u);
  const auto kept = read("run/nodes/1.log");
  EXPECT_EQ(std::ranges::count(kept, 'x'), 1'000'000);
  EXPECT_GE(std::ranges::count(kept, '\n'), 1'000'000 / 262'144);
}

// A leader that was cut off ends with an error, perhaps before its successor has said that it leads.
TEST_F(launched_run, goes_on_when_its_leader_ends_with_an_error_and_another_one_leads) {
  const auto script = [this](const std::string& name, const std::string& text) {
    write(name, "#!/bin/sh\nsay() { printf '\\036%s\\n' \"$*\"; }\n" + text);
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    return "[[host]]\nbinary = '" + (folder_ / name).string() + "'\n";
  };
  const auto leader = (folder_ / "leader").string();
  const auto other = (folder_ / "other").string();
  ASSERT_EQ(mkfifo(other.c_str(), 0600), 0);
  const auto waits = "tail --pid=$(cat " + leader + ") -f /dev/null\n"; // until launch knows that it has ended
  write("hosts.toml", script("leads.sh", "echo $$ > " + leader + "\nsay listening on 127.0.0.1:9\nread other < " + other
                                             + "\nsay all nodes are ready\nexit 1\n")
                          + script("follows.sh", "say door 127.0.0.1:10\necho there > " + other + "\n" + waits
                                                     + "say listening on 127.0.0.1:10\nsleep 2\necho has led\n")
                          + script("ends.sh", waits));
  const auto ended = run(words{"launch", "--patience", "1", "--hosts", "hosts.toml", "--"} + small);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("has led"));
}

TEST_F(launched_run, goes_on_when_nothing_can_be_kept) {
  std::filesystem::create_directories(folder_ / "run/nodes");
  for (const char* full : {"run/output.log", "run/nodes/0.log", "run/nodes/1.log", "run/nodes/nodes.json.part"})
    std::filesystem::create_symlink("/dev/full", folder_ / full);
  const auto ended = launch();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("No space left on device; the run goes on"), HasSubstr("epoch ")));
  EXPECT_TRUE(exists("run/summary.json"));
}

} // namespace
} // namespace gossamer
