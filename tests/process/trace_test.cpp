// Pictures of runs of one and of several processes.
#include <cmath>
#include <csignal>
#include <map>
#include <set>

#include "launched_command.hpp"
#include "support/trace_rules.hpp"

namespace gossamer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;

class traces : public launched_command {
protected:
  /// Returns the number of events of each name in each group of rows: "node 0: compute/gradient".
  std::map<std::string, int> events_in(const std::string& file) const {
    const auto text = read(file);
    EXPECT_THAT(support::trace_rules::problems(text), IsEmpty());
    const auto events = json::parse(text)["traceEvents"];
    std::map<int, std::string> group_of;
    for (const auto& e : events)
      if (e["name"] == "process_name")
        group_of[e["pid"]] = e["args"]["name"];
    std::map<std::string, int> result;
    for (const auto& e : events)
      if (e["ph"] == "X")
        ++result[group_of.at(e["pid"]) + "/" + e["name"].get<std::string>()];
    return result;
  }
};

TEST_F(traces, show_that_workers_of_shared_nodes_draw_a_delay_for_each_frame) {
  const auto ended = run({"simulate",
                          "--algorithm",
                          "d-psgd",
                          "--topology",
                          "complete",
                          "--workers",
                          "4",
                          "--workers-per-node",
                          "2",
                          "--network",
                          "uniform:latency=0.001,bandwidth=1e12,jitter=0.05",
                          "--cost",
                          "none",
                          "--steps",
                          "1",
                          "--data",
                          "digits:samples=600,test=200",
                          "--model",
                          "softmax",
                          "--out",
                          "run"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto trace = json::parse(read("run/trace.json"));
  std::set<std::int64_t> flights; // in tenths of milliseconds, of which transmission takes none
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "X" && e["name"] == "model 0")
      flights.insert(std::llround(e["dur"].get<double>() / 100));
  EXPECT_GE(flights.size(), 5u) << "beside that within a node there was one for each direction";
}

TEST_F(traces, of_a_launch_show_every_gradient_and_every_frame_of_all_nodes) {
  const auto ended = run({"launch", "--hosts", "localhost:3", "--trace", "trace.json", "--", "train", "--algorithm",
                          "d-psgd", "--topology", "ring", "--workers", "3", "--steps", "40", "--data",
                          "digits:samples=600,test=200", "--model", "softmax"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("trace.json shows 3 processes\n"));
  const auto events = events_in("trace.json");
  for (const auto* node : {"node 0", "node 1", "node 2"})
    EXPECT_EQ(events.at(std::string{node} + ": compute/gradient"), 40);
  EXPECT_EQ(events.at("links/model"), 3 * 2 * 40) << "each way is drawn, from one process to the other";
}

TEST_F(traces, of_a_launch_have_the_moments_of_a_leader_that_was_killed) {
  support::subprocess launch{words{"env", "-C", folder_.string()}
                             + gossamer({"launch",
                                         "--hosts",
                                         "localhost:3",
                                         "--trace",
                                         "trace.json",
                                         "--",
                                         "train",
                                         "--algorithm",
                                         "ad-psgd",
                                         "--workers",
                                         "3",
                                         "--data",
                                         "digits:samples=600,test=200",
                                         "--model",
                                         "softmax",
                                         "--epochs",
                                         "1e6",
                                         "--seconds",
                                         "60",
                                         "--eval-every",
                                         "5"})};
  const auto has_begun = [](const auto& so_far) {
    return is_under_way(so_far) && so_far.err.find("epoch 1") != std::string::npos;
  };
  launch.when(has_begun, [](const auto& so_far) { kill(leader_of(so_far), SIGKILL); })
      .signal_after("leads the run from now on", SIGINT);
  const auto ended = launch.finish();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(events_in("trace.json"), Contains(Key("node 0: compute/gradient")));
  EXPECT_THAT(events_in("trace.json"), Contains(Key("node 2: compute/gradient")));
}

TEST_F(traces, leave_who_watches_the_waits_and_the_use_of_time) {
  const auto ended = run(small + words{"--workers", "2", "--trace", "--events", "lines", "--out", "run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(events_in("run/trace.json"), Contains(Key("compute/gradient")));
  EXPECT_THAT(read("lines"), Not(HasSubstr("\"used_s\":null")));
  EXPECT_THAT(read("lines"), HasSubstr("\"used_s\":{"));
}

TEST_F(traces, of_a_launch_are_asked_of_the_launcher_and_go_where_it_can_write) {
  const auto behind = run({"launch", "--", "train", "--trace"});
  EXPECT_EQ(behind.status, 2);
  EXPECT_THAT(behind.err, HasSubstr("launch has it, in front of --: --trace FILE"));
  const auto nowhere = run(words{"launch", "--trace", "no/such/file", "--"} + small);
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("--trace: cannot write no/such/file: No such file or directory"));
  const auto full = run(words{"launch", "--trace", "/dev/full", "--"} + small + words{"--out", "run"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("--trace: cannot write /dev/full: No space left"));
  EXPECT_TRUE(exists("run/summary.json")) << "the run itself goes well";
}

} // namespace
} // namespace gossamer
