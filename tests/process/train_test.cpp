#include <algorithm>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

words keys(const json& object) {
  words result;
  for (const auto& [key, value] : object.items())
    result.push_back(key);
  return result;
}

/// Returns the records without fields in which all runs differ.
std::vector<json> timeless(std::vector<json> records) {
  for (auto& record : records)
    record.erase("time_s");
  return records;
}

class train : public command {
protected:
  /// Runs the small job with these flags and fails the test unless it succeeds.
  support::outcome succeed(const words& flags, const std::string& out = "run") const {
    auto ended = run(small + words{"--out", out} + flags);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended;
  }
  words algorithms() const {
    words names;
    for (const auto& entry : json::parse(run({"list", "algorithms", "--json"}).out))
      names.push_back(entry["name"]);
    return names;
  }
};

TEST_F(train, draws_what_its_workers_do_if_asked_to) {
  const auto ended = succeed({"--algorithm", "d-psgd", "--codec", "uniform:bits=8", "--workers", "3", "--trace"});
  EXPECT_THAT(ended.out, ContainsRegex("plot.svg(,| and) trace.json"));
  std::map<std::string, int> slices;
  const auto trace = json::parse(read("run/trace.json"));
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "X")
      ++slices[e["name"]];
  const auto gradients = json::parse(read("run/summary.json"))["step"].get<int>();
  EXPECT_EQ(slices["gradient"], gradients);
  EXPECT_GE(slices["encode"], gradients);
  EXPECT_GE(slices["model"], gradients) << "a frame to each of two neighbours, but for the last ones";
}

TEST_F(train, says_and_keeps_the_learning_rate_that_it_has_chosen) {
  const auto ended = succeed({"--workers", "2", "--checkpoint", "5"});
  EXPECT_THAT(ended.err, HasSubstr("the learning rate is 0.02: --lr auto, 2 workers\n"));
  EXPECT_THAT(read("run/config.toml"), HasSubstr("lr = 0.02\n"));
  const auto again = succeed({"--config", "run/config.toml", "--workers", "3"}, "again");
  EXPECT_THAT(again.err, testing::Not(HasSubstr("--lr auto")));
  EXPECT_THAT(read("again/config.toml"), HasSubstr("lr = 0.02\n"));
  succeed({"--resume", "run", "--workers", "4", "--epochs", "2"}, "longer");
  EXPECT_THAT(read("longer/config.toml"), HasSubstr("lr = 0.02\n"));
}

TEST_F(train, writes_a_whole_run_folder_for_every_algorithm) {
  for (const auto& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm);
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = succeed({"--algorithm", algorithm});
    EXPECT_THAT(ended.out, HasSubstr("run holds config.toml, metrics.jsonl, summary.json"));
    EXPECT_THAT(read("run/config.toml"), HasSubstr(algorithm));
    EXPECT_THAT(read("run/plot.svg"), StartsWith("<svg "));
    const auto files = std::filesystem::directory_iterator(folder_ / "run");
    const int pages = exists("run/report.html") ? 1 : 0; // not of every build
    EXPECT_EQ(std::distance(begin(files), end(files)), 5 + pages) << "config, metrics, events, summary, plot";

    const auto records = metrics();
    ASSERT_GE(records.size(), 2u);
    std::vector<std::string> expected{
        "step",         "epoch",    "time_s", "train_loss", "test_loss", "test_accuracy", "consensus_distance",
        "payload_bits", "wire_bits"};
    if (algorithm == "ad-psgd")
      expected.insert(expected.end(), {"averagings_asked", "averagings_done", "averagings_dropped"});
    for (const auto& record : records)
      EXPECT_THAT(keys(record), testing::ElementsAreArray(expected));
    EXPECT_EQ(records.front()["step"], 0);
    EXPECT_EQ(records.front()["payload_bits"], 0);
    const auto summary = json::parse(read("run/summary.json"));
    const bool threads_decide = !summary["staleness"].empty();
    if (!threads_decide && algorithm != "cascading-ssdm") { // cascading-ssdm is a baseline that is known to fail
      EXPECT_LT(records.back()["train_loss"], records.front()["train_loss"]);
    }
    for (const auto& [key, value] : records.back().items())
      EXPECT_EQ(summary.value(key, json()), value) << key;
    EXPECT_EQ(summary["algorithm"], algorithm);
    EXPECT_EQ(summary["workers"], 4);
    EXPECT_EQ(summary["end"], "planned");
    EXPECT_THAT(summary["steps_per_worker"], SizeIs(4));
  }
}

TEST_F(train, prints_the_summary_as_json_when_asked) {
  const auto ended = succeed({"--json"});
  EXPECT_EQ(ended.out, read("run/summary.json"));
}

TEST_F(train, shows_one_plain_line_an_evaluation_when_nobody_watches) {
  const auto ended = succeed({});
  EXPECT_THAT(ended.err, testing::Not(HasSubstr("\033")));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(ended.err, '\n')), 1 + metrics().size())
      << "one for the learning rate";
}

TEST_F(train, repeats_a_run_from_the_configuration_that_it_wrote) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd"}) {
    SCOPED_TRACE(algorithm);
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::remove_all(folder_ / "again");
    succeed({"--algorithm", algorithm, "--seed", "7", "--optimiser", "momentum:beta=0.5", "--slow", "1:1.5x"});
    const auto again = run({"train", "--config", "run/config.toml", "--out", "again"}); // no other flag
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(timeless(metrics("again")), timeless(metrics()));
  }
}

TEST_F(train, another_seed_is_another_run) {
  succeed({"--algorithm", "d-psgd"});
  succeed({"--algorithm", "d-psgd", "--seed", "2"}, "other");
  EXPECT_NE(metrics("other").back()["train_loss"], metrics().back()["train_loss"]);
}

TEST_F(train, lets_flags_win_over_the_file) {
  write("mine.toml", "workers = 2\nepochs = 1.5\nalgorithm = \"d-psgd\"\nslow = [\"0:2x\", \"1:3x\"]\n");
  succeed({"--config", "mine.toml", "--workers", "6"}); // the job has --epochs 1, too
  const auto summary = json::parse(read("run/summary.json"));
  EXPECT_EQ(summary["algorithm"], "d-psgd");
  EXPECT_EQ(summary["workers"], 6);
  EXPECT_NEAR(summary["epoch"].get<double>(), 1, 0.2);
}

TEST_F(train, stops_at_its_limits) {
  const words five{"train", "--data", "digits:samples=600,test=200", "--steps", "5", "--algorithm", "d-psgd"};
  ASSERT_EQ(run(five + words{"--out", "run"}).status, 0);
  EXPECT_THAT(json::parse(read("run/summary.json"))["steps_per_worker"], Each(5));
  const auto timed = run({"train", "--data", "digits:samples=600,test=200", "--epochs", "1e8", "--eval-every", "1",
                          "--seconds", "0.2", "--out", "timed"});
  EXPECT_EQ(timed.status, 0) << timed.err;
  EXPECT_EQ(json::parse(read("timed/summary.json"))["end"], "seconds");
}

TEST_F(train, trains_alone) {
  succeed({"--workers", "1", "--algorithm", "d-psgd"});
  const auto summary = json::parse(read("run/summary.json"));
  EXPECT_EQ(summary["payload_bits"], 0);
  EXPECT_EQ(summary["consensus_distance"], 0);
}

TEST_F(train, numbers_its_run_folders_when_none_is_named) {
  EXPECT_EQ(run(small).status, 0);
  EXPECT_EQ(run(small).status, 0);
  EXPECT_TRUE(exists("runs/001-ad-psgd/summary.json"));
  EXPECT_TRUE(exists("runs/002-ad-psgd/summary.json"));
}

TEST_F(train, replaces_a_run_when_told_to) {
  succeed({"--algorithm", "d-psgd"});
  succeed({"--algorithm", "all-reduce-sgd", "--overwrite"});
  EXPECT_EQ(json::parse(read("run/summary.json"))["algorithm"], "all-reduce-sgd");
}

} // namespace
} // namespace gossamer
