// Runs that tell other programs what happens: lines of JSON, TensorBoard.
#include <sstream>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsSupersetOf;

class feeds : public command {
protected:
  static inline const words simulated{
      "simulate", "--data", "digits:samples=600,test=200", "--epochs", "1", "--sample-time", "10ms", "--out", "run"};

  /// Returns the types of the lines, all of which must be JSON.
  static std::vector<std::string> types_in(const std::string& text) {
    std::vector<std::string> types;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
      const auto object = json::parse(line, nullptr, false);
      EXPECT_TRUE(object.is_object()) << line;
      types.push_back(object.is_object() ? object.value("type", "") : "");
    }
    return types;
  }
  support::outcome shell(const std::string& script) const { return execute({"sh", "-c", script, GOSSAMER_COMMAND}); }
};

TEST_F(feeds, of_lines_begin_with_the_run_and_end_with_its_end) {
  for (const auto& run_of : {small + words{"--out", "run"}, simulated}) {
    const auto ended = run(run_of + words{"--events", "lines", "--overwrite"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("run holds config.toml"));
    const auto types = types_in(read("lines"));
    EXPECT_THAT(types, IsSupersetOf({"run", "view", "workers", "evaluation", "end"}));
    EXPECT_EQ(types.front(), "run");
    EXPECT_EQ(types.back(), "end");
  }
}

TEST_F(feeds, have_standard_output_for_themselves) {
  const auto alone = run(simulated + words{"--events", "-"});
  EXPECT_EQ(types_in(alone.out).back(), "end");
  EXPECT_THAT(alone.err, HasSubstr("run holds config.toml")) << "for people";
  const auto with_summary = run(simulated + words{"--events", "-", "--json", "--overwrite"});
  EXPECT_EQ(types_in(with_summary.out).back(), "summary");
  const auto trained = run(small + words{"--ui", "json", "--json", "--out", "trained"});
  EXPECT_EQ(types_in(trained.out).back(), "summary");
}

TEST_F(feeds, that_cannot_be_opened_leave_no_folder) {
  const auto expect = [this](const words& job, const std::string& out) {
    for (const words& feed : {words{"--events", "absent/x"}, {"--tensorboard", "/dev/null/x"}}) {
      const auto refused = run(job + feed + words{"--out", out});
      EXPECT_EQ(refused.status, 1);
      EXPECT_THAT(refused.err, HasSubstr(feed[0] + ": cannot "));
    }
  };
  std::filesystem::create_directory(folder_ / "mine");
  ASSERT_EQ(run(small + words{"--checkpoint", "5", "--out", "before"}).status, 0);
  for (const auto& job : {small, small + words{"--resume", "before"}, simulated,
                          words{"launch", "--hosts", "localhost:2", "--"} + small}) {
    expect(job, "run");
    EXPECT_FALSE(exists("run"));
    expect(job, "mine");
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "mine")) << "it was there before";
  }
  EXPECT_EQ(run(small + words{"--events", "absent/x"}).status, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "runs"));
}

TEST_F(feeds, of_a_launched_run_come_from_the_launcher) {
  const auto ended = run(words{"launch", "--hosts", "localhost:2", "--ui", "json", "--"} + small);
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto types = types_in(ended.out);
  EXPECT_THAT(types, IsSupersetOf({"run", "view", "workers", "evaluation", "end"}));
  EXPECT_EQ(types.back(), "end");
  EXPECT_THAT(ended.err, HasSubstr("holds config.toml")) << "for people";
}

TEST_F(feeds, do_not_end_a_launched_run_before_its_end_when_their_disk_is_full) {
  const auto ended = shell("\"$0\" launch --hosts localhost:2 --ui json -- train --data digits:samples=600,test=200 "
                           "--epochs 1 --out run > /dev/full");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(exists("run/summary.json"));
  EXPECT_THAT(ended.err, HasSubstr("--ui: cannot write to standard output: No space left"));
}

TEST_F(feeds, that_cannot_be_written_say_why) {
  const auto refused = [&](const words& flags) {
    const auto ended = run(small + words{"--out", "run", "--overwrite"} + flags);
    EXPECT_EQ(ended.status, 1);
    return ended.err;
  };
  EXPECT_THAT(refused({"--events", "no/such/folder"}),
              HasSubstr("--events: cannot write to no/such/folder: No such file or directory; check the path"));
  EXPECT_THAT(refused({"--events", "/dev/full"}), HasSubstr("--events: cannot write to /dev/full: No space left"));
  EXPECT_THAT(refused({"--tensorboard", "/dev/null"}), HasSubstr("--tensorboard: cannot make /dev/null/run"));
}

TEST_F(feeds, are_of_one_run_and_not_of_a_launched_one_on_standard_output) {
  const auto several = run(simulated + words{"--seeds", "1..2", "--events", "lines"});
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, HasSubstr("--events or --ui json is given, and there are several runs"));
  const auto launched = run({"launch", "--hosts", "localhost:2", "--", "train", "--events", "-"});
  EXPECT_EQ(launched.status, 2);
  EXPECT_THAT(launched.err, HasSubstr("name a file"));
}

TEST_F(feeds, do_not_end_a_run_when_their_reader_goes) {
  const auto ended =
      shell("\"$0\" train --data digits:samples=600,test=200 --epochs 1 --out run --events - | head -n 1");
  EXPECT_EQ(types_in(ended.out), std::vector<std::string>{"run"});
  EXPECT_TRUE(exists("run/summary.json")) << ended.err;
}

TEST_F(feeds, do_not_hold_a_run_whose_reader_stalls) {
  const auto ended =
      shell("mkfifo pipe && { \"$0\" simulate --data digits:samples=600,test=200 --workers 200 "
            "--algorithm d-psgd --topology ring --steps 50 --out run --events pipe & } && exec 3< pipe && "
            "for i in $(seq 600); do test -e run/summary.json && break; sleep 0.1; done; "
            "test -e run/summary.json && cat <&3 > lines; wait $!");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(types_in(read("lines")).back(), "end");
}

TEST_F(feeds, are_read_by_tensorboard) {
  if (execute({"python3", "-c", "import tensorboard"}).status != 0)
    GTEST_SKIP() << "no Python with tensorboard: pip install tensorboard";
  const auto ended = run(simulated + words{"--tensorboard", "board", "--algorithm", "d-psgd", "--workers", "4"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto found = execute({"python3", "-c", R"(
import json
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator("board/run", size_guidance={"scalars": 0}).Reload()
print(json.dumps({
  "tags": events.Tags()["scalars"],
  "loss": [[point.step, point.value] for point in events.Scalars("loss/test")],
  "settings": events.Tensors("settings")[0].tensor_proto.string_val[0].decode()}))
)"});
  ASSERT_EQ(found.status, 0) << found.err;
  const auto board = json::parse(found.out);
  EXPECT_THAT(board["tags"].get<words>(),
              IsSupersetOf({"loss/train", "loss/test", "accuracy/test", "consensus_distance", "bits/payload",
                            "bits/wire", "loss/minibatch", "pace/steps_per_second"}));
  EXPECT_THAT(board["settings"].get<std::string>(), HasSubstr("algorithm = 'd-psgd:"));
  const auto records = metrics();
  ASSERT_EQ(board["loss"].size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(board["loss"][i][0], records[i]["step"]);
    EXPECT_FLOAT_EQ(board["loss"][i][1].get<float>(), records[i]["test_loss"].get<float>());
  }
}

} // namespace
} // namespace gossamer
