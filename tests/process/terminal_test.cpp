// What a person sees on a terminal.
#include <array>
#include <csignal>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>

#include "launched_command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Shows what a terminal of unlimited width does with bytes: rows of characters.
class screen {
public:
  void show(std::string_view bytes) {
    while (!bytes.empty()) {
      if (bytes.starts_with("\033["))
        control(bytes);
      else {
        put(bytes.front());
        bytes.remove_prefix(1);
      }
    }
  }
  std::string text() const {
    std::string result;
    for (const auto& row : rows_)
      result += row + '\n';
    return result;
  }

private:
  void put(char c) {
    if (c == '\r')
      column_ = 0;
    else if (c == '\n')
      ++row_;
    else
      row().replace(column_++, 1, 1, c);
  }
  /// Moves the cursor up, or erases what follows it.
  void control(std::string_view& bytes) {
    bytes.remove_prefix(2);
    std::size_t number = 0;
    for (; bytes.front() >= '0' && bytes.front() <= '9'; bytes.remove_prefix(1))
      number = 10 * number + static_cast<std::size_t>(bytes.front() - '0');
    const char what = bytes.front();
    bytes.remove_prefix(1);
    if (what == 'A') {
      ASSERT_LE(number, row_) << "the cursor leaves the screen";
      row_ -= number;
    } else {
      ASSERT_EQ(what, 'J');
      row().resize(column_);
      rows_.resize(row_ + 1);
    }
  }
  std::string& row() {
    rows_.resize(std::max(rows_.size(), row_ + 1));
    rows_[row_].resize(std::max(rows_[row_].size(), column_), ' ');
    return rows_[row_];
  }

  std::vector<std::string> rows_;
  std::size_t row_ = 0, column_ = 0; // in bytes
};

class on_a_terminal : public launched_command {
protected:
  /// Runs the command with its standard error on a terminal.
  /// @param prepare says what is done on the way
  support::outcome show(
      const words& given, const std::function<void(support::subprocess&)>& prepare = [](auto&) {}) {
    winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    std::array<int, 2> ends{-1, -1};
    if (openpty(ends.data(), &ends[1], nullptr, nullptr, &size) != 0)
      throw std::runtime_error("no terminal");
    for (const int end : ends)
      fcntl(end, F_SETFD, FD_CLOEXEC);
    support::subprocess program{words{"env", "-C", folder_.string(), "TERM=xterm", "LC_ALL=C.UTF-8"} + gossamer(given),
                                ends};
    prepare(program);
    auto ended = program.finish();
    seen.show(ended.err);
    return ended;
  }

  static inline const words endless{
      "train",     "--data", "digits:samples=600,test=200", "--model", "softmax", "--workers", "3", "--out", "run",
      "--seconds", "60"};
  screen seen;
};

TEST_F(on_a_terminal, a_run_renews_a_block_and_takes_it_away) {
  const auto ended = show(endless, [](auto& program) { program.then("worker 2", SIGINT); });
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("worker 0"), HasSubstr(" steps/s"), HasSubstr("loss ")));
  EXPECT_THAT(seen.text(), AllOf(HasSubstr("the learning rate is 0.03"), HasSubstr("epoch   0.00"),
                                 Not(HasSubstr("worker 0")), Not(HasSubstr("steps/s"))));
}

TEST_F(on_a_terminal, a_run_has_plain_lines_if_asked_to) {
  const auto ended = show(small + words{"--out", "run", "--ui", "plain"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("epoch   0.00"), Not(HasSubstr("\033["))));
}

TEST_F(on_a_terminal, a_launch_renews_a_block_that_outlives_the_leader) {
  const auto ended = show(words{"launch", "--hosts", "localhost:3", "--"} + endless, [](auto& program) {
    const auto has_a_block = [](const auto& so_far) {
      return is_under_way(so_far) && so_far.err.find("worker 2") != std::string::npos;
    };
    program.when(has_a_block, [](const auto& so_far) { kill(leader_of(so_far), SIGKILL); })
        .then("2 of 3 nodes")
        .then("worker 2", SIGINT);
  });
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("leads the run from now on"));
  EXPECT_THAT(seen.text(), AllOf(HasSubstr("epoch   0.00"), Not(HasSubstr("worker 0  ")), Not(HasSubstr("steps/s"))));
  EXPECT_THAT(ended.out, HasSubstr("holds metrics.jsonl"));
}

TEST_F(on_a_terminal, a_launch_has_plain_lines_if_asked_to) {
  const auto ended = show(words{"launch", "--hosts", "localhost:2", "--ui", "plain", "--"} + small);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("epoch   0.00"), Not(HasSubstr("\033["))));
}

TEST_F(on_a_terminal, an_error_stands_alone) {
  const auto ended = show({"train", "--algorithm", "sdg"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(seen.text(), testing::StartsWith("gossamer: unknown algorithm 'sdg'"));
}

} // namespace
} // namespace gossamer
