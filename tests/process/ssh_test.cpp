// Launches over ssh: a real server, on a port of this machine, with keys of its own.
#include <arpa/inet.h>
#include <csignal>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* server = "/usr/sbin/sshd";

/// Returns a port that has no listener.
int free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&where), size), 0);
  EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size), 0);
  close(listener);
  return ntohs(where.sin_port);
}

/// True if a process ends in time.
bool ends(pid_t process) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (handle < 0)
    return errno == ESRCH;
  pollfd polled{handle, POLLIN, 0};
  constexpr int patience_ms = 60'000;
  const bool ended = poll(&polled, 1, patience_ms) == 1;
  close(handle);
  return ended;
}

class over_ssh : public command {
protected:
  void SetUp() override {
    command::SetUp();
    if (!std::filesystem::exists(server))
      GTEST_SKIP() << server << " is not installed: apt-get install openssh-server";
    if (geteuid() == 0)
      mkdir("/run/sshd", 0755); // required by a server that runs as root
    for (const char* key : {"host_key", "user_key"})
      ASSERT_EQ(execute({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).status, 0);
    const auto here = folder_.string(), port = std::to_string(free_port());
    write("sshd_config", "ListenAddress 127.0.0.1\nPort " + port + "\nHostKey " + here
                             + "/host_key\nAuthorizedKeysFile " + here
                             + "/user_key.pub\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n"
                             + "PasswordAuthentication no\nKbdInteractiveAuthentication no\n");
    write("ssh_config", "Host node-*\nHostName 127.0.0.1\nPort " + port + "\nIdentityFile " + here
                            + "/user_key\nIdentitiesOnly yes\nStrictHostKeyChecking no\nLogLevel ERROR\n"
                            + "ConnectionAttempts 30\nUserKnownHostsFile /dev/null\n");
    write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F " + here + "/ssh_config \"$@\"\n");
    std::filesystem::permissions(folder_ / "bin/ssh", std::filesystem::perms::owner_all);
    server_.emplace(words{server, "-D", "-e", "-f", here + "/sshd_config"});
  }
  void TearDown() override {
    if (server_)
      server_->signal_after("Server listening", SIGTERM).finish();
    command::TearDown();
  }

  words over_path(const words& given) const {
    return words{"env", "-C", folder_.string(), "PATH=" + (folder_ / "bin").string() + ":" + std::getenv("PATH"),
                 "XDG_STATE_HOME=" + (folder_ / "state").string()}
           + gossamer(given);
  }
  /// Returns the launch of two nodes behind ssh. Their address does not look like loopback, and every machine has it.
  words launch(const words& job, const std::string& first = GOSSAMER_COMMAND,
               const std::string& second = GOSSAMER_COMMAND) const {
    const auto rest = "'\ndirectory = '" + folder_.string() + "'\n";
    write("hosts.toml", "[[host]]\nhost = 'node-a'\naddress = '0.0.0.0'\nbinary = '" + first + rest
                            + "[[host]]\nhost = 'node-b'\nbinary = '" + second + rest);
    return over_path(words{"launch", "--hosts", "hosts.toml", "--insecure", "--", "train", "--data",
                           "digits:samples=600,test=200", "--algorithm", "d-psgd", "--out", "run"}
                     + job);
  }
  static inline const words endless{"--epochs", "1e8", "--seconds", "100", "--eval-every", "5"};

  /// Returns the processes of this test whose command has all of these words.
  std::vector<pid_t> processes(const words& having) const {
    std::vector<pid_t> result;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto name = entry.path().filename().string();
      std::ifstream in(entry.path() / "cmdline", std::ios::binary);
      const std::string line{std::istreambuf_iterator<char>(in), {}};
      std::error_code gone;
      const auto works_in = std::filesystem::read_symlink(entry.path() / "cwd", gone);
      const auto has = [&](const std::string& word) { return line.find(word) != std::string::npos; };
      if (std::isdigit(name[0]) != 0 && works_in == folder_ && std::ranges::all_of(having, has))
        result.push_back(std::stoi(name));
    }
    return result;
  }
  /// Returns the node processes on the far side of ssh.
  std::vector<pid_t> nodes() const {
    auto all = processes({"node", "--until-input-ends"});
    for (const auto client : processes({"/usr/bin/ssh"}))
      std::erase(all, client);
    return all;
  }

private:
  std::optional<support::subprocess> server_;
};

TEST_F(over_ssh, nodes_come_to_what_one_process_comes_to) {
  const words job{"--epochs", "1", "--workers", "4"};
  ASSERT_EQ(run(small + words{"--algorithm", "d-psgd", "--out", "one"} + job).status, 0);
  const auto ended = support::subprocess(launch(job)).finish();
  ASSERT_EQ(ended.status, 0) << ended.err;
  auto one = json::parse(read("one/summary.json")), several = json::parse(read("run/summary.json"));
  one.erase("time_s");
  several.erase("time_s");
  EXPECT_EQ(several, one);
  EXPECT_THAT(read("runs/001-on-node-a/nodes/1.log"), HasSubstr("this is node 1"));
  EXPECT_EQ(json::parse(read("runs/001-on-node-a/nodes/nodes.json"))[1]["host"], "node-b");
}

TEST_F(over_ssh, an_interrupt_ends_all_processes) {
  support::subprocess run(launch(endless));
  std::vector<pid_t> all;
  run.when("epoch ", [&](const auto&) { all = nodes(); }).signal_after("epoch ", SIGINT);
  const auto ended = run.finish();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("interrupted after"));
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
  EXPECT_THAT(all, SizeIs(2));
  for (const auto process : all)
    EXPECT_TRUE(ends(process));
}

TEST_F(over_ssh, a_run_that_was_left_behind_is_stopped) {
  auto detached = launch(endless);
  detached.insert(std::ranges::find(detached, "--insecure"), "--detach");
  const auto launched = support::subprocess(detached).finish();
  ASSERT_EQ(launched.status, 0) << launched.err;
  EXPECT_THAT(launched.out, HasSubstr("gossamer status runs/001-on-node-a"));
  const auto all = nodes();
  EXPECT_THAT(all, SizeIs(2));
  const auto stopped = support::subprocess(over_path({"stop"})).finish();
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(stopped.out, "runs/001-on-node-a has ended with status 130\n");
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
  for (const auto process : all)
    EXPECT_TRUE(ends(process));
}

TEST_F(over_ssh, a_node_ends_whose_connection_is_gone) {
  support::subprocess run(launch(endless));
  std::vector<pid_t> all;
  run.when("epoch ",
           [&](const auto&) {
             all = nodes();
             const auto client = processes({"/usr/bin/ssh", "--join"});
             ASSERT_THAT(client, SizeIs(1));
             kill(client[0], SIGKILL);
           })
      .signal_after("worker 1 is lost", SIGINT);
  EXPECT_EQ(run.finish().status, 130);
  EXPECT_THAT(all, SizeIs(2));
  for (const auto process : all)
    EXPECT_TRUE(ends(process));
}

TEST_F(over_ssh, all_end_when_the_connection_of_their_leader_is_gone) {
  support::subprocess run(launch(endless));
  std::vector<pid_t> all;
  run.when("epoch ", [&](const auto&) {
    all = nodes();
    const auto client = processes({"/usr/bin/ssh", "--listen"});
    ASSERT_THAT(client, SizeIs(1));
    kill(client[0], SIGKILL);
  });
  EXPECT_EQ(run.finish().status, 137);
  EXPECT_THAT(all, SizeIs(2));
  for (const auto process : all)
    EXPECT_TRUE(ends(process));
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted") << "it has heard of it, and stopped cleanly";
}

TEST_F(over_ssh, a_program_that_is_not_there_is_named) {
  const std::string absent = "/no/such/gossamer";
  const auto no_leader = support::subprocess(launch({}, absent)).finish();
  EXPECT_EQ(no_leader.status, 1);
  EXPECT_THAT(no_leader.err, AllOf(HasSubstr("node 0 on node-a ended with status 127: "),
                                   AnyOf(HasSubstr("not found"), HasSubstr("No such file")),
                                   HasSubstr("its command was ssh -o BatchMode=yes"), HasSubstr(absent)));
  const auto no_other = support::subprocess(launch({}, GOSSAMER_COMMAND, absent)).finish();
  EXPECT_EQ(no_other.status, 1);
  EXPECT_THAT(no_other.err, AllOf(HasSubstr("node 1 on node-b ended with status 127: "),
                                  AnyOf(HasSubstr("not found"), HasSubstr("No such file")),
                                  HasSubstr("its command was ssh -o BatchMode=yes"), HasSubstr(absent)));
}

} // namespace
} // namespace gossamer
