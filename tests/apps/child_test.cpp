// Other programs under way.
#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/die_with.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <poll.h>
#include <sys/wait.h>

namespace gossamer::apps {
namespace {

TEST(child, that_reads_nothing_holds_nobody_up) {
  child asleep{{"sleep", "1000"}};
  const std::string long_line(60'000, 'x');
  int taken = 0;
  while (taken < 100 && asleep.write_line(long_line))
    ++taken;
  EXPECT_GT(taken, 15);
  EXPECT_LT(taken, 100);
}

TEST(child, gets_what_waited_for_it) {
  child counts{{"sh", "-c", "head -n 12 | wc -c"}};
  counts.send_signal(SIGSTOP);
  for (int k = 0; k < 12; ++k)
    ASSERT_TRUE(counts.write_line(std::string(59'999, 'x')));
  counts.send_signal(SIGCONT);
  std::string said;
  while (counts.outputs() != std::array{-1, -1}) {
    pollfd output{counts.outputs()[0], POLLIN, 0};
    poll(&output, 1, 10);
    counts.read_lines([&](bool, const std::string& line) { said += line; });
  }
  EXPECT_EQ(said, "720000");
}

std::string last_words_of(const std::string& script) {
  child says{{"sh", "-c", script}};
  while (says.outputs() != std::array{-1, -1}) {
    pollfd output{says.outputs()[0], POLLIN, 0};
    poll(&output, 1, 10);
    says.read_lines([](bool, const std::string&) {});
  }
  return says.last_line();
}

TEST(child, has_its_last_words_from_what_is_shown) {
  EXPECT_EQ(last_words_of(R"(printf 'no room is left\n\036node 1\n\036live progress {}\n')"), "no room is left");
  EXPECT_EQ(last_words_of(R"(printf 'half a line\036live progress {}\n')"), "half a line");
  EXPECT_EQ(last_words_of(R"(printf '\036 on standard error\n' >&2)"), "\x1e on standard error");
}

/// Starts a process that dies with this parent. @returns its exit status, 1 if it lived on
int status_of_one_with(pid_t parent) {
  const auto id = fork();
  if (id == 0) {
    die_with(parent);
    _exit(1);
  }
  int status = 0;
  waitpid(id, &status, 0);
  return WEXITSTATUS(status);
}

TEST(die_with, ends_a_process_whose_parent_has_gone_before_it_asked_to_die_with_it) {
  EXPECT_EQ(status_of_one_with(getpid()), 1);
  EXPECT_EQ(status_of_one_with(getppid()), 0) << "its parent is this process";
}

} // namespace
} // namespace gossamer::apps
