// Flags as users write them: with too many values, twice, with units, and with names that choose a default.
#include <algorithm>
#include <sys/stat.h>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class flags : public command {
protected:
  static inline const words simulated{"simulate", "--data",    "quadratic:samples=100,dim=9",
                                      "--model",  "quadratic", "--algorithm",
                                      "d-psgd",   "--steps",   "5"};

  void expect_refused(const words& given, const std::string& said) const {
    SCOPED_TRACE(testing::PrintToString(given));
    const auto ended = run(given);
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, AllOf(StartsWith("gossamer: "), HasSubstr(said)));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_FALSE(exists("runs"));
  }
  json summary(const words& more, const std::string& out = "run") const {
    const auto ended = run(simulated + words{"--overwrite", "--out", out} + more);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return json::parse(read(out + "/summary.json"));
  }
};

TEST_F(flags, and_commands_are_all_that_is_expected) {
  expect_refused({"train", "x"}, "unexpected argument 'x'; gossamer --help and gossamer train --help");
  expect_refused({"train", ""}, "unexpected argument ''");
  expect_refused({"launch", ""}, "unexpected argument ''");
  expect_refused({"launch", "train"}, "'train' stands before --");
  expect_refused({"list", "codecs", "models"}, "unexpected argument 'models'");
  expect_refused({"x"}, "unexpected argument 'x'");
  expect_refused({"train", "-"}, "unexpected argument '-'");
}

TEST_F(flags, of_a_job_stand_behind_the_dashes) {
  expect_refused({"advise", "--network", "wan"},
                 "--network is a flag of simulate, whose flags stand behind --; gossamer advise -- --network ...");
  expect_refused({"reproduce", "--network=wan"}, "gossamer reproduce -- --network ...");
  expect_refused({"sweep", "--workers", "8"}, "gossamer sweep -- simulate --workers ...");
  for (const char* command : {"launch", "node", "measure"})
    expect_refused({command, "--algorithm", "d-psgd"},
                   "--algorithm is a flag of train, whose flags stand behind --; gossamer " + std::string{command}
                       + " -- train --algorithm ...");
  expect_refused({"launch", "--network", "wan"},
                 "unknown flag '--network'; gossamer --help and gossamer launch --help");
  expect_refused({"list", "--nothing"}, "unknown flag '--nothing'; gossamer --help and gossamer list --help");
}

TEST_F(flags, that_a_job_may_not_have_are_not_sent_behind_the_dashes) {
  expect_refused({"advise", "--lr", "0.1"}, "--lr is given, but advise chooses or varies it; leave it out");
  expect_refused({"advise", "--algorithm=d-psgd"}, "--algorithm is given, but advise chooses or varies it");
  expect_refused({"advise", "--seed", "3"}, "gossamer advise -- --seed ...");
  expect_refused({"reproduce", "tang2018-figure1", "--lr", "3"},
                 "--lr is given, but it is what tang2018-figure1 compares; leave it out");
  expect_refused({"reproduce", "tang2018-figure1", "--seed", "3"},
                 "it is what tang2018-figure1 compares; leave it out");
  expect_refused({"reproduce", "tang2018-figure1", "--batch", "8"}, "gossamer reproduce -- --batch ...");
  expect_refused({"reproduce", "--all", "--lr", "3"}, "--lr is given, but it is what ");
  expect_refused({"reproduce", "--seed", "3"}, "it is what every reproduction compares; leave it out");
  for (const char* command : {"advise", "reproduce", "sweep", "measure"})
    for (const char* flag : {"--report", "--tensorboard"})
      expect_refused({command, flag, "no"}, "unknown flag '" + std::string{flag} + "'");
  expect_refused({"sweep", "--resume", "runs/1"}, "gossamer sweep -- simulate --resume ...");
}

TEST_F(flags, of_reports_are_not_for_jobs) {
  constexpr auto none = "--report is given behind --; leave it out: these runs write none";
  expect_refused({"sweep", "--", "simulate", "--report", "no"}, none);
  expect_refused({"reproduce", "tang2018-figure1", "--", "--report", "no"}, none);
  expect_refused({"measure", "--hosts", "localhost:2", "--", "train", "--report", "no"}, "measurements write none");
  for (const words& command : {words{"launch"}, words{"node", "--listen", "localhost:0"}})
    expect_refused(command + words{"--", "train", "--report", "no"}, "launch and node have it, in front of --");
}

TEST_F(flags, of_several_runs_stand_in_front_of_the_dashes) {
  expect_refused(
      {"sweep", "--", "simulate", "--seeds", "1..3"},
      "--seeds or --explore is given behind --, where one run is described; leave it out; sweep has --seeds");
  expect_refused({"reproduce", "tang2018-figure1", "--", "--explore", "3"}, "--seeds or --explore is given behind --");
}

TEST_F(flags, have_values_that_are_not_empty) {
  constexpr auto or_none = " is empty; give it a value, or leave it out for its default";
  for (const char* flag : {"--resume", "--config", "--seeds", "--live", "--events", "--tensorboard", "--faults",
                           "--network", "--out", "--jobs", "--run-limit"})
    expect_refused(simulated + words{flag, ""}, std::string{flag} + or_none);
  for (const auto& [command, flag] : std::vector<std::pair<std::string, std::string>>{
           {"sweep", "--seeds"}, {"advise", "--hosts"}, {"reproduce", "--out"}, {"reproduce", "--data"}})
    expect_refused({command, flag, ""}, flag + or_none);
  expect_refused({"launch", "--", "train", "--resume", ""}, std::string{"--resume"} + or_none);
  expect_refused({"stop", ""}, std::string{"RUN|HOST:PORT"} + or_none); // without it, the last run would stop
  expect_refused({"report", ""}, "RUN is empty; give it a value");
}

TEST_F(flags, that_are_real_are_numbers) {
  expect_refused({"advise", "--accuracy", "nan"}, "--accuracy: Value nan not in range 0 to 1");
  expect_refused({"advise", "--loss", "NaN"}, "--loss: Value NaN not in range -1000000000 to 1000000000");
  expect_refused({"advise", "--run-limit", "nan"}, "--run-limit is 'nan'");
  for (const char* flag : {"--lr", "--bandwidth-factor", "--horizon", "--sample-time", "--prepare"})
    expect_refused(simulated + words{flag, "nan"}, std::string{flag} + " is ");
}

TEST_F(flags, do_not_contradict_each_other) {
  expect_refused(simulated + words{"--seeds", "1..2", "--seed", "4"},
                 "--seed is given, but --seeds names those of all runs; leave one of them out");
  expect_refused(simulated + words{"--explore", "5", "--interleaving", "3"},
                 "--interleaving is given, but --explore tries several; leave one of them out");
  expect_refused({"sweep", "--", "simulate", "--out", "zzz"},
                 "--out is given behind --, where each run has a folder of its own; leave it out; --out in front");
  expect_refused({"sweep", "--vary", "out=a b", "--", "simulate"}, "--vary names out");
  write("plan.toml", "[[fault]]\nkind = 'kill'\nworkers = [3]\nprocesses = true\nat = '1ms'\n");
  expect_refused(simulated + words{"--faults", "plan.toml", "--processes", "no"},
                 "--processes no is given, and plan.toml has faults of processes; leave the flag out");
}

TEST_F(flags, that_ask_for_nothing_contradict_nothing) {
  const auto several = run(simulated + words{"--seeds", "1..2", "--report", "no"});
  EXPECT_EQ(several.status, 0) << several.err;
  const auto checked = run(simulated + words{"--seeds", "1..2", "--chaos", "1", "--checkpoint", "2"});
  EXPECT_EQ(checked.status, 0) << checked.err; // the auditor looks at what would be saved
  write("plan.toml", "[[fault]]\nkind = 'kill'\nworkers = [3]\nat = '1ms'\n");
  summary({"--faults", "plan.toml", "--processes", "no"});
  write("plan.toml", "[[fault]]\nkind = 'kill'\nworkers = [3]\nprocesses = true\nat = '1ms'\n");
  summary({"--config", "run/config.toml", "--faults", "plan.toml"}, "again"); // which says processes = 'no'
}

TEST_F(flags, are_no_programs_that_launch_could_start) {
  expect_refused({"launch", "--", "--algorithm", "d-psgd"}, "the command must come before '--algorithm'");
  expect_refused({"launch", "--", "-x"}, "unexpected argument '-x'");
}

TEST_F(flags, have_one_value_each) {
  expect_refused({"train", "--workers", "2", "4"},
                 "--workers has one value, and '4' follows it; leave one of them out");
  expect_refused({"train", "--lr", "0.01", "0.5", "--seed", "2"}, "--lr has one value, and '0.5' follows it");
  expect_refused({"train", "--workers=2", "4"}, "--workers has one value, and '4' follows it");
  expect_refused({"train", "--slow", "0:2x", "1:2x"}, "a flag that may be repeated stands before each of its values");
  expect_refused({"launch", "--hosts", "localhost:2", "localhost:3", "--", "train"},
                 "--hosts has one value, and 'localhost:3' follows it");
  expect_refused({"train", "--overwrite", "yes"}, "unexpected argument 'yes'");
}

TEST_F(flags, that_are_given_twice_mean_the_last) {
  EXPECT_EQ(summary({"--seed", "1", "--seed", "2"})["seed"], 2);
  EXPECT_THAT(read("run/config.toml"), HasSubstr("seed = 2\n"));
}

TEST_F(flags, take_times_and_rates_with_units) {
  const auto plain = summary({"--network", "uniform:latency=0.05,bandwidth=2e7", "--link", "0-1:latency=0.2",
                              "--detection", "0.002", "--sample-time", "0.0001", "--process-patience", "90"});
  const auto units = summary({"--network", "uniform:latency=50ms,bandwidth=20Mb/s", "--link", "0-1:latency=200ms",
                              "--detection", "2ms", "--sample-time", "100us", "--process-patience", "1.5min"});
  EXPECT_EQ(units["hash"], plain["hash"]);
  EXPECT_EQ(units["time_s"], plain["time_s"]);
  EXPECT_THAT(read("run/config.toml"), AllOf(HasSubstr("detection = 0.002\n"), HasSubstr("sample-time = 0.0001\n"),
                                             HasSubstr("bandwidth=20Mb/s")));
  write("my.toml", "detection = '2ms'\nnetwork = 'uniform:latency=50ms,bandwidth=20Mb/s'\nlink = '0-1:latency=0.2'\n");
  EXPECT_EQ(summary({"--config", "my.toml", "--sample-time", "1e-4"}, "third")["hash"], plain["hash"]);
  write("plan.toml", "[[fault]]\nkind = 'kill'\nworkers = [3]\nat = '100ms'\nfor = '0.5s'\n");
  summary({"--network", "uniform:latency=50ms", "--faults", "plan.toml"}, "fourth");
  EXPECT_THAT(read("fourth/faults.toml"), AllOf(HasSubstr("at = 0.1\n"), HasSubstr("for = 0.5\n")));
}

TEST_F(flags, say_which_units_there_are) {
  expect_refused(
      simulated + words{"--network", "uniform:latency=50m"},
      "latency of network 'uniform' is '50m', which is not a time; write seconds, or a number with us, ms, s");
  expect_refused(simulated + words{"--network", "uniform:bandwidth=20MB/s"},
                 "bandwidth of network 'uniform' is '20MB/s', which is not a rate; write bits per second, or a number "
                 "with b/s, kb/s, Mb/s, Gb/s behind it, such as 20Mb/s");
  expect_refused({"train", "--seconds", "soon"}, "--seconds is 'soon', which is not a time");
  expect_refused({"launch", "--patience", "10ms", "--", "train"}, "--patience is 10ms, which is out of range");
  expect_refused({"launch", "--data-from-peers", "--data-rate", "8MB/min", "--", "train"},
                 "--data-rate is '8MB/min', which is not so many bytes a second");
  write("plan.toml", "[[fault]]\nkind = 'kill'\nworkers = [3]\nat = '1Mb/s'\n");
  expect_refused(simulated + words{"--faults", "plan.toml"}, "plan.toml:4: at of kill is '1Mb/s', which is not a time");
}

TEST_F(flags, leave_the_topology_to_the_algorithm) {
  for (const char* algorithm : {"ad-psgd", "d-psgd", "all-reduce-sgd"})
    for (const char* workers : {"1", "2", "3", "5"}) {
      const auto first = summary({"--algorithm", algorithm, "--workers", workers});
      EXPECT_THAT(read("run/config.toml"), HasSubstr("topology = 'auto'\n"));
      const auto again = run({"simulate", "--config", "run/config.toml", "--overwrite", "--out", "again"});
      EXPECT_EQ(again.status, 0) << again.err;
      EXPECT_EQ(json::parse(read("again/summary.json"))["hash"], first["hash"]);
    }
  const auto ring = summary({"--workers", "5", "--topology", "ring"});
  EXPECT_EQ(summary({"--workers", "5"})["hash"], ring["hash"]) << "d-psgd needs no other graph";
  EXPECT_THAT(run({"explain", "auto"}).out, HasSubstr("even-ring where it needs a bipartite graph"));
}

TEST_F(flags, name_files_that_end) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const words& given : {words{"--config", "pipe"}, words{"--faults", "pipe"}, words{"--cost", "pipe"},
                             words{"--initial", "pipe"}, words{"--data", "csv:train=pipe"}}) {
    SCOPED_TRACE(given.front());
    const auto ended = run(words{"simulate", "--out", "run"} + given);
    EXPECT_EQ(ended.status, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("it is a named pipe, and nobody may ever write into it"));
  }
  const auto piped = execute({"bash", "-c",
                              "exec " GOSSAMER_COMMAND " simulate --steps 2 --out run --config "
                              "<(echo \"data = 'quadratic'\"; echo \"model = 'quadratic'\")"});
  EXPECT_EQ(piped.status, 0) << piped.err;
}

TEST_F(flags, name_who_diverges) {
  const auto ended = run(simulated + words{"--algorithm", "parameter-server-sgd", "--lr", "1e6", "--steps", "200"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("diverged at "), testing::Not(HasSubstr("worker 4"))));
}

} // namespace
} // namespace gossamer
