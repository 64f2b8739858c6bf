#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class report : public command {
protected:
  void SetUp() override {
    command::SetUp();
    const auto asked = run({"report", "absent"});
    if (asked.err.find("libjs-dygraphs") != std::string::npos)
      GTEST_SKIP() << asked.err;
  }
};

TEST_F(report, shows_real_runs) {
  ASSERT_EQ(run(small + words{"--out", "a"}).status, 0);
  ASSERT_EQ(
      run({"simulate", "--data", "digits:samples=600,test=200", "--epochs", "1", "--chaos", "3", "--out", "b"}).status,
      0);
  const auto ended = run({"report", "a", "b", "--out", "both.html"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "both.html shows 2 runs\n");
  EXPECT_THAT(read("both.html"),
              AllOf(StartsWith("<!doctype html>"), HasSubstr("gossamer train --config a/config.toml"),
                    HasSubstr("gossamer simulate --config b/config.toml")));
}

TEST_F(report, is_written_at_the_end_of_a_run_unless_it_is_refused) {
  const words simulated{"simulate", "--data", "digits:samples=600,test=200", "--epochs", "1"};
  for (const auto& job : {small, simulated}) {
    const auto ended = run(job + words{"--out", job.front()});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(" and report.html\n"));
    EXPECT_THAT(read(job.front() + "/report.html"), HasSubstr("\"end\":\"planned\""));
    EXPECT_THAT(read(job.front() + "/config.toml"), Not(HasSubstr("report"))); // no setting of the run
  }
  const auto without = run(small + words{"--report", "no", "--overwrite", "--out", "train"});
  EXPECT_EQ(without.status, 0);
  EXPECT_THAT(without.out, Not(HasSubstr("report.html")));
  EXPECT_FALSE(exists("train/report.html")); // that of the run before
}

TEST_F(report, that_cannot_be_written_costs_no_run) {
  for (const auto& job : {small, words{"launch", "--hosts", "localhost:2", "--"} + small}) {
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::create_directories(folder_ / "run");
    std::filesystem::create_symlink("/dev/full", folder_ / "run" / "report.html.part");
    const auto ended = run(job + words{"--out", "run"});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("there is no report.html: cannot write "), HasSubstr("No space left")));
    EXPECT_TRUE(exists("run/summary.json"));
  }
}

TEST_F(report, that_has_no_room_leaves_what_was_there) {
  ASSERT_EQ(run(small + words{"--report", "no", "--out", "run"}).status, 0);
  write("pages/old.html", "old");
  for (const std::string page : {"pages/old.html", "pages/new.html"}) {
    const auto ended =
        execute(words{"sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\""} + gossamer({"report", "run", "--out", page}));
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("cannot write " + page + ": File too large; choose another file with --out"));
  }
  EXPECT_EQ(read("pages/old.html"), "old");
  const std::filesystem::directory_iterator all{folder_ / "pages"};
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(report, says_what_is_wrong_with_a_request) {
  const auto expect = [&](const words& given, int status, const std::string& said) {
    const auto ended = run(given);
    EXPECT_EQ(ended.status, status);
    EXPECT_THAT(ended.err, AllOf(StartsWith("gossamer: "), HasSubstr(said)));
  };
  expect({"report"}, 2, "runs");
  expect({"report", "absent"}, 1, "absent/metrics.jsonl");
  expect({"report", "absent", "--out", "x.pdf"}, 2, "end in .html");
  expect({"simulate", "--seeds", "1..2", "--report", "yes"}, 2, "several runs leave no run folders");
  expect({"train", "--report", "maybe"}, 2, "allowed: yes or no");
  expect({"launch", "--", "train", "--report", "no"}, 2, "launch and node have it, in front of --");
  write("a/metrics.jsonl", "");
  expect({"report", "a", "--out", "absent/x.html"}, 1, "cannot write absent/x.html");
}

} // namespace
} // namespace gossamer
