// What a person sees on a terminal.
#include <csignal>
#include <pty.h>
#include <sys/ioctl.h>
#include <thread>

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
  void SetUp() override {
    command::SetUp();
    winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    char name[256];
    ASSERT_EQ(openpty(&ours_, &theirs_, name, nullptr, &size), 0);
    name_ = name;
  }
  void TearDown() override {
    close(ours_);
    command::TearDown();
  }

  /// What is done when the terminal has got this text, behind that of the step before.
  struct step {
    std::string text;
    std::function<void(const support::subprocess&)> act;
  };
  static step interrupt_after(const std::string& text) {
    return {text, [](const support::subprocess& program) { program.send_signal(SIGINT); }};
  }

  /// Runs the command with its standard error on the terminal.
  support::outcome show(const words& given, const std::vector<step>& steps = {}) {
    support::subprocess program{words{"env", "-C", folder_.string(), "TERM=xterm", "LC_ALL=C.UTF-8", "sh", "-c",
                                      "exec \"$0\" \"$@\" 2>" + name_}
                                + gossamer(given)};
    std::thread reader{[&] {
      std::array<char, 4096> bytes{};
      auto next = steps.begin();
      std::size_t seen_to = 0;
      for (ssize_t count = 0; (count = ::read(ours_, bytes.data(), bytes.size())) > 0;) {
        got.append(bytes.data(), static_cast<std::size_t>(count));
        while (next != steps.end() && got.find(next->text, seen_to) != got.npos) {
          seen_to = got.find(next->text, seen_to) + next->text.size();
          next++->act(program);
        }
      }
    }};
    auto ended = program.finish();
    close(theirs_); // the last one who may write: the reader comes to an end
    reader.join();
    seen.show(got);
    return ended;
  }

  static inline const words endless{
      "train",     "--data", "digits:samples=600,test=200", "--model", "softmax", "--workers", "3", "--out", "run",
      "--seconds", "60"};
  std::string got; ///< by the terminal
  screen seen;

private:
  int ours_ = -1, theirs_ = -1;
  std::string name_;
};

TEST_F(on_a_terminal, a_run_renews_a_block_and_takes_it_away) {
  const auto ended = show(endless, {interrupt_after("worker 2")});
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(got, AllOf(HasSubstr("worker 0"), HasSubstr(" steps/s"), HasSubstr("loss ")));
  EXPECT_THAT(seen.text(), AllOf(HasSubstr("the learning rate is 0.03"), HasSubstr("epoch   0.00"),
                                 Not(HasSubstr("worker 0")), Not(HasSubstr("steps/s"))));
}

TEST_F(on_a_terminal, a_run_has_plain_lines_if_asked_to) {
  const auto ended = show(small + words{"--out", "run", "--ui", "plain"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(got, AllOf(HasSubstr("epoch   0.00"), Not(HasSubstr("\033["))));
}

TEST_F(on_a_terminal, a_launch_renews_a_block_that_outlives_the_leader) {
  const auto kill_leader = [this](const auto&) { kill(leader_of({.err = got}), SIGKILL); };
  const auto ended =
      show(words{"launch", "--hosts", "localhost:3", "--patience", "2", "--"} + endless,
           {{"worker 2", kill_leader}, {"2 of 3 nodes", [](const auto&) {}}, interrupt_after("worker 2")});
  EXPECT_EQ(ended.status, 130) << got;
  EXPECT_THAT(got, HasSubstr("leads the run from now on"));
  EXPECT_THAT(seen.text(), AllOf(HasSubstr("epoch   0.00"), Not(HasSubstr("worker 0  ")), Not(HasSubstr("steps/s"))));
  EXPECT_THAT(ended.out, HasSubstr("holds metrics.jsonl"));
}

TEST_F(on_a_terminal, a_launch_has_plain_lines_if_asked_to) {
  const auto ended = show(words{"launch", "--hosts", "localhost:2", "--ui", "plain", "--"} + small);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(got, AllOf(HasSubstr("epoch   0.00"), Not(HasSubstr("\033["))));
}

TEST_F(on_a_terminal, an_error_stands_alone) {
  const auto ended = show({"train", "--algorithm", "sdg"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(seen.text(), testing::StartsWith("gossamer: unknown algorithm 'sdg'"));
}

} // namespace
} // namespace gossamer
