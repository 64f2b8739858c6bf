// Runs that are killed, and resume from their last checkpoint.
#include <cmath>
#include <csignal>
#include <optional>
#include <sys/stat.h>

#include "command.hpp"

namespace gossamer {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class a_killed_run : public command {
protected:
  static inline const words job{"--data", "digits:samples=600,test=200", "--eval-every", "3", "--batch", "8"};

  /// Kills a run without end as soon as it has a whole checkpoint. A launch is interrupted: its nodes end with it, and
  /// save once more.
  /// @returns a number of epochs beyond its last checkpoint
  double kill_when_saved(const words& how, const words& more, const std::string& out) const {
    support::subprocess run(words{"env", "-C", folder_.string()}
                            + gossamer(how + job + more + words{"--epochs", "1e8", "--out", out}));
    const bool is_launch = how.front() != "train";
    run.when([&](const auto&) { return has_checkpoint(out); },
             [&](const auto&) { run.send_signal(is_launch ? SIGINT : SIGKILL); })
        .finish();
    const auto exported = command::run({"export", out, "--out", "killed.npz"});
    EXPECT_EQ(exported.status, 0) << exported.err;
    const std::string before = ", after ";
    const auto at = exported.out.find(before);
    return at == std::string::npos ? 0 : std::ceil(std::stod(exported.out.substr(at + before.size()))) + 3;
  }
  json summary(const std::string& out) const { return json::parse(read(out + "/summary.json")); }
};

TEST_F(a_killed_run, goes_on_and_comes_to_where_it_would_have_come) {
  for (const words& how : {words{"train"}, words{"launch", "--hosts", "localhost:2", "--", "train"}})
    for (const char* algorithm : {"d-psgd", "all-reduce-sgd"}) {
      SCOPED_TRACE(how.front() + " " + algorithm);
      for (const auto* old : {"whole", "killed", "resumed"})
        fs::remove_all(folder_ / old);
      const words chosen{"--algorithm", algorithm};
      const auto epochs = kill_when_saved(how, chosen + words{"--checkpoint", "20"}, "killed");
      const words planned{"--epochs", std::to_string(epochs)};
      ASSERT_EQ(run(how + job + chosen + planned + words{"--out", "whole"}).status, 0);
      const auto on = run(how + words{"--resume", "killed", "--out", "resumed"} + planned);
      ASSERT_EQ(on.status, 0) << on.err;
      EXPECT_EQ(summary("resumed")["train_loss"], summary("whole")["train_loss"]);
      EXPECT_EQ(summary("resumed")["payload_bits"], summary("whole")["payload_bits"]);
      EXPECT_EQ(summary("resumed")["steps_per_worker"], summary("whole")["steps_per_worker"]);
      const auto was = metrics("whole"), is = metrics("resumed"); // compared from the beginning
      ASSERT_EQ(was.size(), is.size());
      for (std::size_t k = 0; k < was.size(); ++k)
        EXPECT_EQ(was[k]["train_loss"], is[k]["train_loss"]) << k;
    }
}

TEST_F(a_killed_run, goes_on_from_a_simulation_as_a_real_run_and_back) {
  const words two_epochs{"--epochs", "2"};
  const words simulated{"simulate", "--data", "digits:samples=600,test=200", "--epochs", "1", "--network", "wan"};
  const words d_psgd{"--algorithm", "d-psgd", "--checkpoint", "1000"};
  ASSERT_EQ(run(small + d_psgd + two_epochs + words{"--out", "whole"}).status, 0);
  ASSERT_EQ(run(simulated + d_psgd + words{"--out", "simulated"}).status, 0);
  ASSERT_EQ(run(small + d_psgd + words{"--out", "real"}).status, 0);
  const auto expect_whole = [&](const words& how, const std::string& from, const std::string& out) {
    const auto on = run(how + words{"--resume", from, "--out", out} + two_epochs);
    ASSERT_EQ(on.status, 0) << on.err;
    EXPECT_EQ(summary(out)["train_loss"], summary("whole")["train_loss"]) << out;
    EXPECT_EQ(summary(out)["payload_bits"], summary("whole")["payload_bits"]) << out;
  };
  expect_whole({"train"}, "simulated", "trained");
  EXPECT_THAT(read("trained/config.toml"), Not(HasSubstr("network")));
  expect_whole({"launch", "--hosts", "localhost:2", "--", "train"}, "simulated", "launched");
  expect_whole({"simulate", "--network", "wan"}, "real", "back");
}

TEST_F(a_killed_run, goes_on_asynchronously) {
  const auto some = kill_when_saved({"train"}, {"--checkpoint", "20"}, "killed");
  const auto on = run({"train", "--resume", "killed", "--epochs", std::to_string(some + 50), "--out", "resumed"});
  ASSERT_EQ(on.status, 0) << on.err;
  EXPECT_GE(summary("resumed")["test_accuracy"], 0.5);
}

TEST_F(a_killed_run, is_saved_and_goes_on_in_the_leaders_folder_wherever_its_nodes_are) {
  fs::create_directories(folder_ / "elsewhere");
  const words lead{"node", "--listen", "127.0.0.1:0", "--nodes", "2", "--"};
  const words two{"--algorithm", "d-psgd", "--workers", "2", "--checkpoint", "1000s", "--out", "first"};
  for (const words& job : {small + two, words{"train", "--resume", "first", "--epochs", "2", "--out", "second"}}) {
    std::optional<support::subprocess> other;
    support::subprocess leading(words{"env", "-C", folder_.string()} + gossamer(lead + job));
    leading.when("--join ", [&](const auto& so_far) {
      const auto address = so_far.err.substr(so_far.err.find("--join ") + std::string{"--join "}.size());
      other.emplace(words{"env", "-C", (folder_ / "elsewhere").string()}
                    + gossamer({"node", "--join", address.substr(0, address.find('\n'))}));
    });
    const auto led = leading.finish(), joined = other->finish();
    EXPECT_EQ(led.status, 0) << led.err;
    EXPECT_EQ(joined.status, 0) << joined.err;
  }
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
  for (const auto* run : {"first", "second"})
    for (const auto& checkpoint : fs::directory_iterator{folder_ / run / "checkpoints"})
      for (const auto* part : {"worker-0", "worker-1", "manifest"})
        EXPECT_TRUE(fs::exists(checkpoint.path() / part)) << run << ' ' << part;
}

TEST_F(a_killed_run, goes_on_on_this_machine_from_the_last_checkpoint_that_has_all_parts) {
  const words launched{"launch", "--hosts", "localhost:2", "--"};
  const auto saved = run(launched + words{"train"} + job
                         + words{"--epochs", "60", "--algorithm", "d-psgd", "--checkpoint", "10", "--out", "first"});
  ASSERT_EQ(saved.status, 0) << saved.err;
  std::vector<std::uint64_t> numbers;
  for (const auto& one : fs::directory_iterator{folder_ / "first/checkpoints"})
    numbers.push_back(std::stoull(one.path().filename().string()));
  ASSERT_GE(numbers.size(), 2u);
  const auto newest = std::to_string(*std::ranges::max_element(numbers));
  fs::remove(folder_ / "first/checkpoints" / newest / "worker-1");
  const auto on = run(launched + words{"train", "--resume", "first", "--epochs", "61", "--out", "second"});
  EXPECT_EQ(on.status, 0) << on.err;
  EXPECT_THAT(on.out + on.err, HasSubstr("checkpoint " + newest + " cannot be used"));
}

TEST_F(a_killed_run, goes_on_for_longer_than_was_planned) {
  ASSERT_EQ(run(small + words{"--algorithm", "d-psgd", "--checkpoint", "1000s", "--out", "first"}).status, 0);
  const auto on = run({"train", "--resume", "first", "--epochs", "2", "--out", "second"});
  ASSERT_EQ(on.status, 0) << on.err;
  EXPECT_GT(summary("second")["step"], summary("first")["step"]);
  EXPECT_GT(summary("second")["time_s"], summary("first")["time_s"]);
}

TEST_F(a_killed_run, gives_its_model_away_and_others_begin_with_it) {
  for (const char* algorithm : {"d-psgd", "async-sgd:shards=3"}) {
    SCOPED_TRACE(algorithm);
    fs::remove_all(folder_ / "first");
    fs::remove_all(folder_ / "second");
    ASSERT_EQ(run(small + words{"--algorithm", algorithm, "--checkpoint", "1000s", "--out", "first"}).status, 0);
    const auto exported = run({"export", "first", "--out", "model.npz"});
    ASSERT_EQ(exported.status, 0) << exported.err;
    EXPECT_THAT(exported.out, HasSubstr("model.npz holds the model at checkpoint "));
    ASSERT_EQ(run(small + words{"--initial", "model.npz", "--out", "second"}).status, 0);
    EXPECT_NEAR(metrics("second").front()["train_loss"], summary("first")["train_loss"], 1e-4);
  }
  EXPECT_THAT(run({"export", "nowhere"}).err, HasSubstr("nowhere/config.toml"));
}

TEST_F(a_killed_run, is_gone_on_with_as_what_it_was) {
  ASSERT_EQ(run(small + words{"--algorithm", "d-psgd", "--checkpoint", "1000s", "--out", "saved"}).status, 0);
  const auto refused = [&](const words& more, const std::string& sentence) {
    const auto ended = run(words{"train", "--resume", "saved", "--out", "other"} + more);
    EXPECT_NE(ended.status, 0);
    EXPECT_THAT(ended.err, AllOf(StartsWith("gossamer: "), HasSubstr(sentence)));
    EXPECT_FALSE(exists("other")) << sentence;
  };
  refused({"--algorithm", "ad-psgd"}, "--algorithm is ad-psgd");
  refused({"--model", "mlp:hidden=7"}, "--model is mlp:hidden=7");
  const auto in_place = run({"train", "--resume", "saved", "--out", "saved/", "--overwrite"});
  EXPECT_EQ(in_place.status, 2);
  EXPECT_THAT(in_place.err, HasSubstr("--out is saved/, the run that is gone on with"));
  EXPECT_TRUE(exists("saved/summary.json"));
  refused({"--config", "saved/config.toml"}, "both --config and --resume are given");
  for (const auto& part : fs::directory_iterator{folder_ / "saved" / "checkpoints"})
    fs::remove_all(part);
  refused({}, "holds no checkpoint that is whole; train with --checkpoint to have some");
  EXPECT_THAT(run({"train", "--resume", "nowhere"}).err, HasSubstr("nowhere/config.toml"));
}

TEST_F(a_killed_run, does_not_go_on_with_data_that_have_changed_under_their_name) {
  write("rows.csv", "1,0\n2,1\n3,0\n4,1\n5,0\n");
  ASSERT_EQ(run({"train", "--data", "csv:train=rows.csv", "--batch", "1", "--model", "softmax", "--algorithm", "d-psgd",
                 "--steps", "4", "--checkpoint", "2", "--out", "saved"})
                .status,
            0);
  EXPECT_EQ(run({"train", "--resume", "saved", "--steps", "6", "--out", "on"}).status, 0);
  write("rows.csv", "1,0\n2,1\n3,0\n4,1\n5,1\n");
  const auto refused = run({"train", "--resume", "saved", "--steps", "6", "--out", "other"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("csv:train=rows.csv"));
  EXPECT_THAT(refused.err, HasSubstr("are not those that the run in saved was trained on"));
  EXPECT_FALSE(exists("other"));
  EXPECT_EQ(run({"export", "saved", "--out", "model.npz"}).status, 0);
}

TEST_F(a_killed_run, does_not_go_on_with_a_part_of_its_settings) {
  ASSERT_EQ(run(small + words{"--algorithm", "d-psgd", "--checkpoint", "1000s", "--out", "saved"}).status, 0);
  const auto whole = read("saved/config.toml");
  const auto last_line = whole.rfind("# data ");
  ASSERT_NE(last_line, std::string::npos);
  const auto refuse = [&](const std::string& part) {
    write("saved/config.toml", part);
    for (const words& asked : {words{"train", "--resume", "saved"}, words{"export", "saved", "--out", "model.npz"}}) {
      const auto refused = run(asked + (asked.front() == "train" ? words{"--out", "on"} : words{}));
      EXPECT_EQ(refused.status, 1) << part;
      EXPECT_THAT(refused.err, HasSubstr("saved/config.toml ends before its last line, '# data ...'")) << part;
    }
  };
  refuse("");
  refuse(whole.substr(0, whole.find('\n', last_line / 2) + 1));
  refuse(whole.substr(0, last_line / 3));
  refuse(whole.substr(0, last_line));
  refuse(whole.substr(0, last_line + 12));
  EXPECT_FALSE(exists("on"));
  write("saved/config.toml", whole.substr(0, last_line) + "# data\n"); // by hand
  EXPECT_EQ(run({"train", "--resume", "saved", "--epochs", "2", "--out", "on"}).status, 0);
}

TEST_F(a_killed_run, whose_folder_was_moved_ends_with_its_result) {
  support::subprocess run(
      words{"env", "-C", folder_.string()}
      + gossamer(words{"train"} + job + words{"--epochs", "1e8", "--checkpoint", "5", "--out", "run"}));
  const auto ended = run.when([&](const auto&) { return has_checkpoint("run"); },
                              [&](const auto&) {
                                fs::rename(folder_ / "run", folder_ / "moved");
                                run.send_signal(SIGINT);
                              })
                         .finish();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("run was moved or removed while the run went on"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("test accuracy"), HasSubstr("run holds summary.json\n")));
  EXPECT_FALSE(exists("run/checkpoints"));
}

TEST_F(a_killed_run, waits_for_no_pipe_among_its_parts) {
  ASSERT_EQ(run(small + words{"--algorithm", "d-psgd", "--checkpoint", "1000s", "--out", "saved"}).status, 0);
  for (const auto& checkpoint : fs::directory_iterator{folder_ / "saved" / "checkpoints"}) {
    fs::remove(checkpoint.path() / "worker-1");
    ASSERT_EQ(mkfifo((checkpoint.path() / "worker-1").c_str(), 0600), 0);
  }
  const auto refused = run({"train", "--resume", "saved", "--out", "other"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("worker-1': it is a named pipe"), HasSubstr("holds no checkpoint that is whole")));
}

TEST_F(a_killed_run, goes_on_with_as_many_epochs_whoever_computes_them) {
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd"}) {
    SCOPED_TRACE(algorithm);
    const words overwrite{"--overwrite", "--out"};
    ASSERT_EQ(run(small + words{"--algorithm", algorithm, "--checkpoint", "1000s"} + overwrite + words{"saved"}).status,
              0);
    for (const words& how : {words{"train", "--workers", "2"}, words{"train", "--workers", "7"},
                             words{"launch", "--hosts", "localhost:3", "--", "train", "--workers", "8"}}) {
      const auto on = run(how + words{"--resume", "saved", "--epochs", "4"} + overwrite + words{"on"});
      ASSERT_EQ(on.status, 0) << on.err;
      const auto epochs = summary("on")["epoch"].get<double>();
      EXPECT_GE(epochs, 4 - 8 * 32.0 / 600) << on.out;
      // Threads of asynchronous workers may compute on until they hear that the run is over.
      if (algorithm == std::string{"all-reduce-sgd"}) {
        EXPECT_LE(epochs, 4 + 2 * 8 * 32.0 / 600) << on.out;
      }
    }
    const auto done = run(words{"train", "--resume", "saved"} + overwrite + words{"done"});
    EXPECT_EQ(done.status, 0);
    EXPECT_THAT(done.err, HasSubstr("nothing is left to train: checkpoint"));
    EXPECT_EQ(summary("done")["step"], summary("saved")["step"]);
  }
}

TEST_F(a_killed_run, goes_on_with_as_many_epochs_whatever_its_minibatches_are) {
  const words training{"--algorithm", "d-psgd", "--workers", "4", "--checkpoint", "1000s"};
  ASSERT_EQ(run(small + training + words{"--batch", "30", "--out", "saved"}).status, 0);
  ASSERT_EQ(summary("saved")["step"], 20) << "600 samples";
  for (const words& how :
       {words{"train"}, words{"simulate"}, words{"launch", "--hosts", "localhost:2", "--", "train"}}) {
    const auto on =
        run(how + words{"--resume", "saved", "--batch", "75", "--epochs", "3", "--overwrite", "--out", "on"});
    ASSERT_EQ(on.status, 0) << on.err;
    EXPECT_EQ(summary("on")["step"], 20 + 2 * 8);
    EXPECT_NEAR(summary("on")["epoch"].get<double>(), 3, 1e-9);
    double before = 0;
    for (const auto& m : metrics("on"))
      EXPECT_GE(m["epoch"].get<double>(), std::exchange(before, m["epoch"].get<double>()));
    EXPECT_THAT(run({"export", "on", "--out", "model.npz"}).out, HasSubstr("after 3 epochs"));
  }
}

TEST_F(a_killed_run, goes_on_without_the_metrics_that_it_had_not_written) {
  ASSERT_EQ(run(small + words{"--algorithm", "d-psgd", "--checkpoint", "1000s", "--out", "first"}).status, 0);
  write("first/metrics.jsonl", "");
  const auto on = run({"train", "--resume", "first", "--epochs", "2", "--out", "second"});
  EXPECT_EQ(on.status, 0) << on.err;
  EXPECT_THAT(on.err, HasSubstr("the metrics from before the checkpoint are left out"));
}

TEST_F(a_killed_run, that_is_overwritten_leaves_no_checkpoints) {
  const auto training = small + words{"--algorithm", "d-psgd", "--out", "run"};
  ASSERT_EQ(run(training + words{"--checkpoint", "1000s"}).status, 0);
  ASSERT_TRUE(has_checkpoint("run"));
  ASSERT_EQ(run(training + words{"--overwrite"}).status, 0);
  EXPECT_FALSE(exists("run/checkpoints")) << "of another run";
}

TEST_F(a_killed_run, names_rhythms_that_there_are_not) {
  for (const char* rhythm : {"0", "-1", "10m", "s", "0s", "often", ""}) {
    const auto ended = run(small + words{"--checkpoint", rhythm});
    EXPECT_EQ(ended.status, 2) << rhythm;
    EXPECT_THAT(ended.err, HasSubstr("checkpoint")) << rhythm;
  }
}

TEST_F(a_killed_run, trains_on_when_nothing_can_be_saved) {
  write("run/checkpoints", "a file where a folder should be");
  const auto ended = run(small + words{"--algorithm", "d-psgd", "--checkpoint", "5", "--out", "run"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("cannot make run/checkpoints/"));
  EXPECT_TRUE(exists("run/summary.json"));
}

} // namespace
} // namespace gossamer
