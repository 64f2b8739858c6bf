#include <array>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

class interrupted_command : public command {
protected:
  /// Stops a run that would take days by a signal after its second evaluation: the first one precedes all steps.
  support::outcome interrupt(const std::string& algorithm, int signal = SIGINT) const {
    return support::subprocess(endless(algorithm)).then("epoch ").then("epoch ", signal).finish();
  }
  words endless(const std::string& algorithm) const {
    return gossamer({"train", "--data", "digits:samples=600,test=200", "--epochs", "1e8", "--eval-every", "1",
                     "--algorithm", algorithm, "--out", (folder_ / "run").string()});
  }
};

TEST_F(interrupted_command, ends_with_130_and_sums_up) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "ad-psgd"}) {
    SCOPED_TRACE(algorithm);
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = interrupt(algorithm);
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("interrupted"), HasSubstr("summary.json")));
    const auto summary = json::parse(read("run/summary.json"));
    EXPECT_EQ(summary["end"], "interrupted");
    EXPECT_GT(summary["step"], 0);
    EXPECT_EQ(summary["step"], metrics().back()["step"]);
    EXPECT_TRUE(exists("run/plot.svg"));
  }
}

TEST_F(interrupted_command, takes_the_end_of_its_terminal_for_an_interrupt_unless_that_is_ignored) {
  EXPECT_EQ(interrupt("d-psgd", SIGHUP).status, 129);
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
  std::filesystem::remove_all(folder_ / "run");
  support::subprocess run(words{"nohup"} + endless("d-psgd") + words{"--seconds", "2"});
  EXPECT_EQ(run.signal_after("epoch ", SIGHUP).finish().status, 0);
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "seconds");
}

TEST_F(interrupted_command, writes_its_results_to_their_end_when_it_has_already_done_its_work) {
  std::filesystem::create_directory(folder_ / "run");
  const auto picture = (folder_ / "run/trace.json.part").string(); // it is written when the run is over
  ASSERT_EQ(mkfifo(picture.c_str(), 0600), 0);
  const int reader = open(picture.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(fcntl(reader, F_SETPIPE_SZ, 4096), 4096) << "the writer has to wait for the reader";
  support::subprocess training(gossamer(small + words{"--trace", "--out", (folder_ / "run").string()}));
  pollfd begun{reader, POLLIN, 0};
  constexpr int patience_ms = 120'000;
  EXPECT_EQ(poll(&begun, 1, patience_ms), 1);
  training.send_signal(SIGTERM);
  fcntl(reader, F_SETFL, 0);
  std::array<char, 4096> bytes{};
  std::size_t size = 0;
  for (ssize_t count = 0; (count = ::read(reader, bytes.data(), bytes.size())) > 0;)
    size += static_cast<std::size_t>(count);
  close(reader);
  const auto ended = training.finish();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_GT(size, 2 * 4096U);
  EXPECT_THAT(ended.out, HasSubstr("trace.json"));
  EXPECT_TRUE(exists("run/report.html"));
}

TEST_F(interrupted_command, has_its_folder_to_itself) {
  support::outcome second;
  support::subprocess first(endless("d-psgd"));
  first.when("epoch ", [&](const auto&) {
    second = run(small + words{"--overwrite", "--out", "run"});
    first.send_signal(SIGINT);
  });
  EXPECT_EQ(first.finish().status, 130);
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("gossamer: process "), HasSubstr(" writes a run into run"), HasSubstr("--out")));
  EXPECT_EQ(json::parse(read("run/summary.json"))["step"], metrics().back()["step"]);
  EXPECT_EQ(run(small + words{"--overwrite", "--out", "run"}).status, 0);
}

TEST_F(interrupted_command, stops_all_workers_at_the_same_step) {
  EXPECT_EQ(interrupt("d-psgd").status, 130);
  const auto steps = json::parse(read("run/summary.json"))["steps_per_worker"].get<std::vector<std::uint64_t>>();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_GT(steps.front(), 0u);
  EXPECT_THAT(steps, Each(steps.front()));
}

} // namespace
} // namespace gossamer
