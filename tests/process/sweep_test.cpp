// gossamer sweep: a grid of runs, each in a process of its own.
#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class sweeping : public command {
protected:
  support::outcome sweep(const words& flags, const words& more = {}) const {
    const words job{"--", "simulate", "--data", "digits:samples=300,test=100", "--model", "softmax", "--steps", "20"};
    return run(words{"sweep"} + flags + job + more);
  }
  /// The lines of the results.
  std::vector<json> results() const {
    std::vector<json> lines;
    std::ifstream in(folder_ / "sweep/results.jsonl");
    for (std::string line; std::getline(in, line);)
      lines.push_back(json::parse(line));
    return lines;
  }
  json summary(const std::string& run) const { return json::parse(read(run + "/summary.json")); }
};

TEST_F(sweeping, compares_all_settings_best_first_and_repeats_no_run) {
  const words grid{"--vary", "lr=0.001 0.5", "--vary", "algorithm=d-psgd all-reduce-sgd", "--seeds", "1..2"};
  const auto first = sweep(grid);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("lr     algorithm"), HasSubstr("test accuracy, %")));
  EXPECT_LT(first.out.find("0.5 "), first.out.find("0.001 ")) << "the larger rate learns in 20 steps";
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "sweep"))
    folders += entry.is_directory() && exists(entry.path() / "summary.json");
  EXPECT_EQ(folders, 8u);

  const auto written = last_write_time(folder_ / "sweep/lr=0.5,algorithm=d-psgd,seed=1/summary.json");
  const auto second = sweep(grid);
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(last_write_time(folder_ / "sweep/lr=0.5,algorithm=d-psgd,seed=1/summary.json"), written);
}

TEST_F(sweeping, compares_losses_where_there_is_no_accuracy) {
  const auto out =
      sweep({"--vary", "lr=0.001 0.5"}, {"--data", "quadratic:samples=40,dim=3", "--model", "quadratic"}).out;
  EXPECT_THAT(out, HasSubstr("0.001  -"));
  EXPECT_LT(out.find("0.5 "), out.find("0.001 ")) << out;
}

TEST_F(sweeping, goes_on_with_the_runs_that_are_missing) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  const auto more = sweep({"--vary", "lr=0.1 0.2"});
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_THAT(more.out, AllOf(HasSubstr("0.1 "), HasSubstr("0.2 ")));
}

TEST_F(sweeping, does_not_believe_what_else_stands_in_its_results) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  const auto kept = read("sweep/results.jsonl");
  const auto job = json::parse(kept)["job"].dump();
  write("sweep/results.jsonl", "nonsense\n[1]\n{\"job\":3,\"result\":4}\n{\"job\":" + job + ",\"result\":[]}\n" + kept
                                   + "{\"job\":" + job + ",\"result\":{\"time_s\":1}}\n");
  const auto again = sweep({"--vary", "lr=0.1"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("0.1  -")) << "the last line is a result without an accuracy";
}

TEST_F(sweeping, keeps_results_behind_one_that_a_full_disk_has_cut) {
  const words grid{"--vary", "lr=0.1"};
  ASSERT_EQ(sweep(grid).status, 0);
  const auto kept = read("sweep/results.jsonl");
  write("sweep/results.jsonl", kept.substr(0, kept.size() / 2));
  ASSERT_EQ(sweep(grid).status, 0);
  const auto written = last_write_time(folder_ / "sweep/lr=0.1/summary.json");
  ASSERT_EQ(sweep(grid).status, 0);
  EXPECT_EQ(last_write_time(folder_ / "sweep/lr=0.1/summary.json"), written) << "the run was made again";
}

TEST_F(sweeping, repeats_a_run_when_a_file_has_changed) {
  const auto once = [&](const std::string& steps) {
    write("job.toml", "steps = " + steps + "\n");
    const auto ended = run({"sweep", "--vary", "lr=0.1", "--", "simulate", "--config", "job.toml", "--data",
                            "digits:samples=300,test=100", "--model", "softmax"});
    EXPECT_EQ(ended.status, 0) << ended.err;
  };
  once("2");
  once("2");
  EXPECT_THAT(results(), SizeIs(1));
  once("4");
  ASSERT_THAT(results(), SizeIs(2));
  EXPECT_EQ(results()[0]["folder"], "lr=0.1");
  EXPECT_EQ(results()[1]["folder"], "lr=0.1-2");
  EXPECT_LT(summary("sweep/lr=0.1")["step"], summary("sweep/lr=0.1-2")["step"]);
}

TEST_F(sweeping, repeats_the_runs_of_another_version) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  auto line = results().at(0);
  const auto job = line["job"].get<std::string>(), words = job.substr(0, job.find(" # "));
  for (const auto& other : {words, words + " # gossamer 0.0.1" + job.substr(job.find(", inputs"))}) {
    line["job"] = other;
    write("sweep/results.jsonl", line.dump() + '\n');
    write("sweep/lr=0.1/job.txt", other + '\n');
    const auto before = last_write_time(folder_ / "sweep/lr=0.1/summary.json");
    ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
    ASSERT_THAT(results(), SizeIs(2)) << other;
    EXPECT_EQ(results()[1]["job"], job);
    EXPECT_EQ(results()[1]["folder"], "lr=0.1-2");
    EXPECT_EQ(last_write_time(folder_ / "sweep/lr=0.1/summary.json"), before);
  }
}

TEST_F(sweeping, leaves_the_folders_of_other_sweeps_as_they_are) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  const auto first = summary("sweep/lr=0.1");
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}, {"--steps", "10"}).status, 0);
  EXPECT_EQ(summary("sweep/lr=0.1"), first);
  ASSERT_THAT(results(), SizeIs(2));
  EXPECT_EQ(results()[1]["folder"], "lr=0.1-2");
  EXPECT_EQ(results()[1]["result"], summary("sweep/lr=0.1-2"));
}

TEST_F(sweeping, leaves_other_runs_as_they_are) {
  ASSERT_EQ(run(small + words{"--out", "run", "--checkpoint", "5"}).status, 0);
  const auto first = summary("run");
  const auto ended = sweep({"--out", "."});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(summary("run"), first);
  EXPECT_TRUE(exists("run/checkpoints"));
  EXPECT_TRUE(exists("run-2/summary.json"));
}

TEST_F(sweeping, goes_on_in_the_folder_of_a_run_that_was_interrupted) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  std::filesystem::remove(folder_ / "sweep/results.jsonl");
  std::filesystem::remove(folder_ / "sweep/lr=0.1/summary.json");
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  EXPECT_TRUE(exists("sweep/lr=0.1/summary.json"));
  EXPECT_FALSE(exists("sweep/lr=0.1-2"));
}

TEST_F(sweeping, prints_wide_intervals_with_the_decimals_of_the_mean) {
  const auto ended = sweep({"--vary", "lr=0.05", "--seeds", "1..2"}, {"--steps", "5"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, ContainsRegex("0\\.05 +[0-9]+\\.[0-9][0-9] \\+- [0-9][0-9]\\.[0-9][0-9] "));
}

TEST_F(sweeping, gives_each_setting_a_folder) {
  const std::string rows = "a,b,label\n1,2,0\n2,1,1\n1,3,0\n3,1,1\n";
  const auto one = write("in/data.csv", rows), other = write("in_data.csv", rows);
  const auto data = "data=csv:train=" + one + ",test=" + one + " csv:train=" + other + ",test=" + other;
  EXPECT_EQ(run({"sweep", "--vary", data, "--", "simulate", "--model", "softmax", "--batch", "1", "--steps", "5",
                 "--workers", "2"})
                .err,
            "");
  EXPECT_TRUE(exists(folder_ / "sweep" / "data=csv:train=in%2Fdata.csv,test=in%2Fdata.csv"));
  EXPECT_TRUE(exists(folder_ / "sweep" / "data=csv:train=in_data.csv,test=in_data.csv"));
}

TEST_F(sweeping, takes_divergence_for_a_result) {
  const words quadratic{"--data", "quadratic:samples=100,dim=10", "--model", "quadratic", "--steps", "100"};
  const auto ended = sweep({"--vary", "lr=0.001 1e6", "--by", "train-loss"}, quadratic);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("1, 1 diverged"));
}

TEST_F(sweeping, refuses_a_wrong_name_of_any_run_before_the_first) {
  const auto expect_refusal = [&](const std::string& vary, const std::string& said, const words& more = {}) {
    const auto ended = sweep({"--jobs", "1", "--vary", vary}, more);
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_THAT(ended.err,
                AllOf(StartsWith("gossamer: " + said), Not(HasSubstr("to see it")), Not(HasSubstr("blanks"))));
    EXPECT_FALSE(exists("sweep")) << vary;
  };
  expect_refusal("algorithm=d-psgd sgp all-reduce-sgdd", "unknown algorithm 'all-reduce-sgdd'; did you mean 'all-");
  expect_refusal("codec=identity signn", "unknown codec 'signn'; did you mean 'sign'");
  expect_refusal("topology=ring rnig", "unknown topology 'rnig'; did you mean 'ring'");
  expect_refusal("mixing=uniform metropolsi", "unknown mixing rule 'metropolsi'; did you mean 'metropolis'");
  expect_refusal("optimiser=momentum momentun", "unknown optimiser 'momentun'; did you mean 'momentum'");
  expect_refusal("partition=iid idi", "unknown partition 'idi'; did you mean 'iid'");
  expect_refusal("schedule=constant cosin", "unknown schedule 'cosin'; did you mean 'cosine'");
  expect_refusal("data=digits:samples=300 digit", "unknown data 'digit'; did you mean 'digits'");
  expect_refusal("model=softmax sofmax", "unknown model 'sofmax'; did you mean 'softmax'");
  expect_refusal("network=wan wann", "unknown network 'wann'; did you mean 'wan'");
  expect_refusal("jitter=none nnoe", "unknown jitter 'nnoe'; did you mean 'none'");
  expect_refusal("algorithm=sgp ad-psgd:in-flight=0,owed=0", "in-flight of algorithm 'ad-psgd' is 0");
  expect_refusal("codec=identity uniform:bits=8,rounding=16", "all-reduce-sgd needs a codec that is exact",
                 {"--algorithm", "all-reduce-sgd"});
  expect_refusal("workers=4 5", "ad-psgd needs a topology without odd cycles", {"--topology", "ring"});
}

TEST_F(sweeping, prints_a_command_that_shows_a_failure_again) {
  ASSERT_EQ(sweep({"--vary", "lr=0.1"}).status, 0);
  std::filesystem::remove(folder_ / "sweep/results.jsonl");
  const auto fill_disk = [this] {
    std::filesystem::create_symlink("/dev/full", folder_ / "sweep/lr=0.1/summary.json.part");
  };
  fill_disk();
  const auto failed = sweep({"--vary", "lr=0.1"});
  EXPECT_EQ(failed.status, 1);
  const std::string before = "summary.json: No space left on device; to see it: gossamer ";
  const auto at = failed.err.find(before);
  ASSERT_NE(at, std::string::npos) << failed.err;
  fill_disk();
  const auto again = execute({"sh", "-c", "exec \"$0\" " + failed.err.substr(at + before.size()), GOSSAMER_COMMAND});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, HasSubstr("sweep/lr=0.1/summary.json: No space left on device"));
}

TEST_F(sweeping, says_what_is_wrong_with_a_run_that_its_data_refuse) {
  const auto ended = sweep({"--vary", "batch=8 500"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, StartsWith("gossamer: --batch is 500, but the training set has 300 samples"));
}

TEST_F(sweeping, refuses_what_is_wrong_before_anything_runs) {
  EXPECT_THAT(sweep({"--vary", "lr=0.1 high"}).err, HasSubstr("--lr is 'high'"));
  EXPECT_THAT(sweep({"--vary", "rate=0.1"}).err, AllOf(HasSubstr("--rate"), Not(HasSubstr("terminate"))));
  EXPECT_THAT(run({"sweep", "--vary", "lr=0.1"}).err, HasSubstr("a sweep has no job"));
  EXPECT_THAT(sweep({"--vary", "model=softmax mlpp"}).err, HasSubstr("unknown model 'mlpp'"));
  const auto separated = HasSubstr("--vary separates values by blanks: --vary 'lr=0.05 0.2'");
  EXPECT_THAT(sweep({"--vary", "lr=0.05,0.2"}).err, AllOf(HasSubstr("not a number"), separated));
  EXPECT_THAT(sweep({"--vary", "lr=high"}).err, Not(HasSubstr("blanks")));
  EXPECT_FALSE(exists(folder_ / "sweep/lr=0.1"));
  write("file", "");
  EXPECT_THAT(sweep({"--out", "file"}).err, StartsWith("gossamer: cannot make file: Not a directory; choose another"));
}

} // namespace
} // namespace gossamer
