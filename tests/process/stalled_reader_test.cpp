// Runs that go on while their output is not read.
#include <csignal>
#include <fcntl.h>
#include <optional>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A full pipe without a reader.
class full_pipe {
public:
  full_pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      ADD_FAILURE() << "pipe: " << std::strerror(errno);
    const std::vector<char> some(4096);
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    while (::write(ends_[1], some.data(), some.size()) > 0)
      ;
    fcntl(ends_[1], F_SETFL, 0); // makes writers wait
  }
  full_pipe(const full_pipe&) = delete;
  full_pipe& operator=(const full_pipe&) = delete;
  ~full_pipe() {
    for (const int end : ends_)
      close(end);
  }

  /// Returns the path of its write end, valid while the pipe lives.
  std::string path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends_[1]); }

private:
  std::array<int, 2> ends_{-1, -1};
};

class run_that_nobody_reads : public command {
protected:
  /// @param streams redirections, in the words of a shell
  words into(const std::string& streams, const words& given) const {
    return words{"env", "-C", folder_.string(), "sh", "-c", "exec \"$0\" \"$@\" " + streams} + gossamer(given);
  }

  /// A run that outlasts the patience with a node.
  static inline const words job{"train",
                                "--data",
                                "digits:samples=600,test=200",
                                "--workers",
                                "3",
                                "--algorithm",
                                "d-psgd",
                                "--model",
                                "softmax",
                                "--seconds",
                                "9",
                                "--out",
                                "run",
                                "--eval-every",
                                "5"};
  full_pipe nobody;
};

TEST_F(run_that_nobody_reads, is_led_to_its_end_by_who_began_it) {
  const words impatient{"--patience", "4", "--no-shared-memory"};
  const words leader =
      words{"node", "--listen", "127.0.0.1:0", "--nodes", "3", "--announce"} + impatient + words{"--"} + job;
  std::optional<support::subprocess> first, second;
  support::subprocess leading(into("2>" + nobody.path(), leader));
  leading.when("listening on ", [&](const auto& so_far) {
    const auto begin = so_far.out.find("listening on ") + 13;
    const auto address = so_far.out.substr(begin, so_far.out.find('\n', begin) - begin);
    for (auto* node : {&first, &second})
      node->emplace(gossamer(words{"node", "--join", address} + impatient));
  });
  const auto led = leading.finish();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(led.status, 0);
  EXPECT_THAT(led.out, AllOf(HasSubstr("live progress {"), HasSubstr("test accuracy"),
                             HasSubstr("nobody has read standard error for 5 s")));
  for (auto* node : {&first, &second}) {
    const auto ended = (*node)->finish();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("the run is over"), Not(HasSubstr("leads the run"))));
  }
  const auto summary = json::parse(read("run/summary.json"));
  EXPECT_EQ(summary["end"], "seconds");
  EXPECT_EQ(summary["lost"], 0);
  const auto kept = metrics();
  ASSERT_GT(kept.size(), 1u);
  EXPECT_EQ(kept.back()["step"], summary["step"]);
}

TEST_F(run_that_nobody_reads, is_summed_up_with_what_is_missing_elsewhere) {
  const auto ended = support::subprocess(into("2>" + nobody.path(), small + words{"--out", "run"})).finish();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("test accuracy"), HasSubstr("the last lines are missing there")));
  EXPECT_FALSE(metrics().empty());
}

TEST_F(run_that_nobody_reads, says_what_is_wrong_with_its_status_alone) {
  const auto ended = support::subprocess(into("2>" + nobody.path(), {"train", "--algorithm", "sdg"})).finish();
  EXPECT_EQ(ended.status, 2);
}

TEST_F(run_that_nobody_reads, is_launched) {
  const words launch{"launch", "--hosts", "localhost:2", "--patience", "4", "--"};
  const auto ended = support::subprocess(into("2>" + nobody.path(), launch + job)).finish();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("test accuracy"));
  EXPECT_THAT(read("run/output.log"), AllOf(HasSubstr("this is node 1"), HasSubstr("epoch ")));
}

} // namespace
} // namespace gossamer
