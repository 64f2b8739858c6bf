// gossamer simulate: a run in virtual time repeats itself exactly, and leaves all files needed for that.
#include <algorithm>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class simulation : public command {
protected:
  static inline const words settings{"simulate", "--data", "digits:samples=300,test=100", "--model", "softmax",
                                     "--steps",  "10"};

  support::outcome succeed(const words& more, const std::string& out = "run") const {
    auto ended = run(settings + words{"--out", out} + more);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended;
  }
  json summary(const std::string& out = "run") const { return json::parse(read(out + "/summary.json")); }
  std::string hash(const std::string& out = "run") const { return summary(out)["hash"]; }
};

TEST_F(simulation, knows_the_islands_of_its_network) {
  const words job{"--workers", "5", "--algorithm", "local-sgd", "--islands", "hosts"};
  succeed(job + words{"--network", "islands:count=2"});
  EXPECT_THAT(read("run/config.toml"), HasSubstr("islands = '2,3'"));
  const auto refused = run(settings + job + words{"--network", "wan"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("the network 'wan' has no islands"));
}

TEST_F(simulation, knows_the_nodes_of_workers_that_may_come) {
  succeed({"--workers", "5", "--max-workers", "8", "--algorithm", "local-sgd", "--islands", "hosts", "--network",
           "islands:count=4", "--link", "7-all:latency=0.1"});
  EXPECT_THAT(read("run/config.toml"), HasSubstr("islands = '2,2,1'"));
}

TEST_F(simulation, leaves_a_whole_run_folder) {
  const auto ended = succeed({});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("ad-psgd with 4 workers: done"), HasSubstr("trace hash " + hash() + ", "),
                               HasSubstr(" events/s"), HasSubstr("waiter"), HasSubstr(" trace.json")));
  for (const char* file : {"config.toml", "metrics.jsonl", "plot.svg", "blame.txt"})
    EXPECT_FALSE(read(std::string{"run/"} + file).empty()) << file;
  EXPECT_FALSE(exists("run/faults.toml"));
  EXPECT_EQ(json::parse(read("run/blame.json"))["workers"].size(), 4u);
  EXPECT_GT(json::parse(read("run/trace.json"))["traceEvents"].size(), 50u);
  EXPECT_GT(summary()["events"], 0);
  EXPECT_GT(summary()["real_s"], 0);
  succeed({"--trace", "no"}, "plain");
  EXPECT_FALSE(exists("plain/trace.json"));
  EXPECT_EQ(hash("plain"), hash()) << "who looks on changes nothing";
}

TEST_F(simulation, happens_again_for_the_same_seed_and_not_for_another) {
  for (const char* algorithm : {"ad-psgd", "d-psgd", "all-reduce-sgd"}) {
    SCOPED_TRACE(algorithm);
    const words which{"--algorithm", algorithm, "--overwrite", "--twice"};
    succeed(which, "first");
    succeed(which, "second");
    succeed(which + words{"--seed", "2"}, "other");
    EXPECT_EQ(read("first/metrics.jsonl"), read("second/metrics.jsonl"));
    EXPECT_EQ(hash("first"), hash("second"));
    EXPECT_NE(hash("first"), hash("other"));
  }
}

TEST_F(simulation, repeats_a_run_from_its_folder_wherever_that_is) {
  succeed({"--chaos",
           "3",
           "--network",
           "uniform:latency=0.001",
           "--link",
           "0-1:bandwidth=1e8",
           "--link",
           "2-to-3:latency=0.01",
           "--jitter",
           "lognormal",
           "--sample-time",
           "3e-5",
           "--interleaving",
           "4",
           "--workers-per-node",
           "1",
           "--slow",
           "1:2x",
           "--detection",
           "0.01",
           "--algorithm",
           "d-psgd"});
  EXPECT_TRUE(exists("run/faults.toml"));
  std::filesystem::create_directories(folder_ / "elsewhere");
  std::filesystem::rename(folder_ / "run", folder_ / "elsewhere" / "moved");
  const auto again = run({"simulate", "--config", "elsewhere/moved/config.toml", "--out", "again"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(hash("again"), hash("elsewhere/moved"));
  EXPECT_EQ(read("again/config.toml"), read("elsewhere/moved/config.toml"));
  EXPECT_EQ(read("again/faults.toml"), read("elsewhere/moved/faults.toml"));
  const auto other = run({"simulate", "--config", "again/config.toml", "--out", "other", "--chaos", "4"});
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_NE(read("other/faults.toml"), read("again/faults.toml")) << "flags win over the file";
}

TEST_F(simulation, writes_down_what_it_measured) {
  succeed({"--sample-time", "measured"});
  const auto config = read("run/config.toml");
  EXPECT_THAT(config, AllOf(HasSubstr("sample-time = "), Not(HasSubstr("measured"))));
  EXPECT_THAT(config, ContainsRegex("\n# data [0-9a-f]{16}, initial model [0-9a-f]{16}\n$"));
  EXPECT_EQ(run({"simulate", "--config", "run/config.toml", "--out", "again"}).status, 0);
  EXPECT_EQ(hash("again"), hash());
  EXPECT_EQ(read("again/config.toml"), config);
}

TEST_F(simulation, keeps_what_work_costs_beside_its_configuration) {
  succeed({"--cost", "measured", "--algorithm", "d-psgd", "--codec", "uniform:bits=8"});
  EXPECT_THAT(read("run/config.toml"), HasSubstr("cost = 'costs.toml'"));
  EXPECT_THAT(read("run/costs.toml"), AllOf(HasSubstr("[encode-byte]"), HasSubstr("uniform = ")));
  std::filesystem::rename(folder_ / "run", folder_ / "moved");
  EXPECT_EQ(run({"simulate", "--config", "moved/config.toml", "--out", "again"}).status, 0);
  EXPECT_EQ(hash("again"), hash("moved"));
  EXPECT_EQ(read("again/costs.toml"), read("moved/costs.toml"));

  succeed({"--cost", "none"}, "free");
  EXPECT_FALSE(exists("free/costs.toml"));
  EXPECT_EQ(summary("free")["time_by_worker"][0]["compressing_s"], 0);
  EXPECT_GT(summary("moved")["time_by_worker"][0]["compressing_s"], 0);
  EXPECT_GT(summary("moved")["time_by_worker"][3]["communicating_s"], 0);

  const auto wrong = run(settings + words{"--cost", "meassured", "--out", "wrong"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("cannot read the costs 'meassured'"), HasSubstr("default, none, measured")));
}

TEST_F(simulation, tells_programs_what_it_tells_people) {
  const auto ended = succeed({"--json", "--workers", "6", "--chaos", "1"});
  EXPECT_EQ(ended.out, read("run/summary.json"));
  for (const char* key : {"test_loss", "hash", "events", "real_s", "frames_lost", "frames_rejected",
                          "frames_duplicated", "lost", "returned", "views"})
    EXPECT_TRUE(summary().contains(key)) << key;
}

TEST_F(simulation, tells_of_workers_that_are_lost_and_come_back) {
  write("plan.toml", "[[fault]]\nkind = \"kill\"\nworkers = [3]\nat = 0.002\nfor = 0.01\n");
  const auto ended = succeed({"--faults", "plan.toml", "--detection", "0.001", "--steps", "100"});
  EXPECT_THAT(ended.err, AllOf(HasSubstr("s  worker 3 is lost; 3 go on\n"), HasSubstr("s  worker 3 comes back\n")));
  EXPECT_THAT(ended.out, HasSubstr("workers: 1 lost, 1 came or came back, "));
  EXPECT_EQ(summary()["lost"], 1);
  EXPECT_THAT(read("run/faults.toml"), HasSubstr("kill"));
}

TEST_F(simulation, refuses_a_plan_without_a_fault) {
  write("plan.toml", "");
  const auto ended = run(settings + words{"--faults", "plan.toml", "--out", "run"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("plan.toml: this plan has no fault"), HasSubstr("[[fault]]")));
  EXPECT_FALSE(exists("run"));
}

TEST_F(simulation, is_moved_by_its_world) {
  succeed({"--algorithm", "d-psgd", "--network", "ideal"}, "ideal");
  for (const words& change :
       {words{"--network", "uniform:latency=0.1"}, {"--link", "0-all:latency=0.1"}, {"--sample-time", "1e-3"}}) {
    SCOPED_TRACE(change.front());
    succeed(words{"--algorithm", "d-psgd", "--overwrite"} + change, "slower");
    EXPECT_GT(summary("slower")["time_s"], summary("ideal")["time_s"]);
    EXPECT_EQ(summary("slower")["train_loss"], summary("ideal")["train_loss"]) << "it is synchronous";
  }
}

TEST_F(simulation, refuses_bad_worlds_before_it_leaves_a_folder) {
  const auto expect_refused = [&](const words& flags, const std::string& said) {
    SCOPED_TRACE(testing::PrintToString(flags));
    const auto ended = run(settings + words{"--out", "run"} + flags);
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, AllOf(testing::StartsWith("gossamer: "), HasSubstr(said)));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_FALSE(exists("run"));
  };
  expect_refused({"--network", "tang-bets"}, "did you mean 'tang-best'?");
  expect_refused({"--link", "0-9:latency=1"}, "9");
  expect_refused({"--link", "0-0:latency=1"}, "joins a node to itself");
  expect_refused({"--link", "gibberish"}, "does not name a link");
  expect_refused({"--sample-time", "-1"}, "--sample-time is -1");
  expect_refused({"--sample-time", "measure"}, "--sample-time is 'measure'");
  expect_refused({"--jitter", "lognromal"}, "did you mean 'lognormal'?");
  expect_refused({"--workers-per-node", "0"}, "--workers-per-node is 0");
  expect_refused({"--faults", "plan.toml", "--chaos", "1"}, "both --faults and --chaos");
  expect_refused({"--chaos", "x"}, "--chaos is 'x'");
  expect_refused({"--chaos", "1", "--horizon", "0"}, "--horizon is 0");
  expect_refused({"--interleaving", "-1"}, "--interleaving is -1");
  expect_refused({"--detection", "-1"}, "--detection is -1");
  expect_refused({"--patience", "0"}, "--patience is 0");
  expect_refused({"--check", "maybe"}, "--check is 'maybe'; allowed: yes or no");
  expect_refused({"--trace", "1"}, "--trace is '1'; allowed: yes or no");
  expect_refused({"--netwrok", "ideal"}, "did you mean --network?");
  write("plan.toml", "[[fault]]\nkind = \"kill\"\nworkers = [4]\n");
  expect_refused({"--faults", "plan.toml"}, "plan.toml:1: ");
  write("plan.toml", "[[fault]]\nkind = \"join\"\nworkers = [4]\n");
  expect_refused({"--faults", "plan.toml"}, "names 4, which does not exist; allowed: 0 to 3; --max-workers makes room");
  expect_refused({"--algorithm", "async-sgd", "--faults", "plan.toml"},
                 "plan.toml:1: this join names 4, which is master 0, and masters neither come nor leave; name workers");
  write("my.toml", "network = \"ideal\"\nlink = [\"0-1:latency=0.1\", \"0=1\"]\n");
  expect_refused({"--config", "my.toml"}, "my.toml:2: ");
}

TEST_F(simulation, leaves_its_settings_to_itself) {
  const auto absent = run(settings + words{"--faults", "absent.toml"});
  EXPECT_EQ(absent.status, 1);
  EXPECT_THAT(absent.err, AllOf(HasSubstr("absent.toml"), HasSubstr("No such file")));
  write("my.toml", "network = \"ideal\"\n");
  const auto trained = run(small + words{"--config", "my.toml"});
  EXPECT_EQ(trained.status, 2);
  EXPECT_THAT(trained.err, HasSubstr("my.toml:1: network is a setting of simulations only"));
  write("more.toml", "jitter = \"none\"\nworkers = 2\nnetwork = \"ideal\"\n");
  EXPECT_THAT(run(small + words{"--config", "more.toml"}).err,
              HasSubstr("more.toml: jitter, network are settings of simulations only; remove them"));
}

TEST_F(simulation, lends_its_faults_to_training) {
  write("plan.toml", "[[fault]]\nkind = \"kill\"\nworkers = [3]\nat-step = 5\n");
  const words steps{"--epochs", "20"};
  const auto killed = run(small + steps + words{"--faults", "plan.toml", "--out", "run"});
  EXPECT_EQ(killed.status, 0) << killed.err;
  EXPECT_THAT(killed.err, HasSubstr("s  worker 3 is lost; 3 go on\n"));
  EXPECT_THAT(read("run/config.toml"), HasSubstr("faults = 'faults.toml'"));
  const auto again = run({"train", "--config", "run/config.toml", "--out", "again"});
  EXPECT_THAT(again.err, HasSubstr("s  worker 3 is lost; 3 go on\n"));
  const auto chaotic = run(small + words{"--chaos", "2", "--out", "chaos"});
  EXPECT_EQ(chaotic.status, 0) << chaotic.err;
  EXPECT_TRUE(exists("chaos/faults.toml"));
}

} // namespace
} // namespace gossamer
