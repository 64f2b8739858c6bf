// gossamer advise: which algorithm suits a network.
#include <fstream>
#include <regex>
#include <sstream>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class advising : public command {
protected:
  support::outcome advise(const words& flags, const words& more = {}) const {
    const words job{"--",      "--data",  "digits:samples=400,test=100",
                    "--model", "softmax", "--workers",
                    "4",       "--batch", "8",
                    "--steps", "40",      "--eval-every",
                    "0.2"};
    return run(words{"advise"} + flags + job + more);
  }
  /// The columns of a candidate's row.
  static words row_of(const std::string& name, const std::string& table) {
    const auto begin = table.find('\n' + name + "  ") + 1;
    EXPECT_GT(begin, 0u) << name << " has no row:\n" << table;
    const auto row = table.substr(begin, table.find('\n', begin) - begin);
    static const std::regex gap{"  +"};
    return {std::sregex_token_iterator{row.begin(), row.end(), gap, -1}, {}};
  }
};

// 400 kb/s and 50 ms: a model of 251 kb takes 0.6 s, and the 40 gradients of a worker less.
TEST_F(advising, ranks_by_the_time_to_the_target_on_slow_links) {
  const auto slow = advise({}, {"--network", "uniform:latency=0.05,bandwidth=4e5"});
  ASSERT_EQ(slow.status, 0) << slow.err;
  EXPECT_THAT(slow.out, AllOf(HasSubstr("Virtual seconds until a test accuracy"), HasSubstr("with twice the bandwidth"),
                              HasSubstr("simulate --data digits:samples=400,test=100"),
                              HasSubstr("launch --hosts HOST,HOST,... -- train --algorithm "), Not(HasSubstr("nan")),
                              Not(HasSubstr(" on islands")), Not(HasSubstr(" along fast links"))));
  EXPECT_LT(slow.out.find("\nlocal-sgd"), slow.out.find("\nall-reduce-sgd")) << "an eighth of the bytes:\n" << slow.out;
  EXPECT_LT(slow.out.find("\ndcd-psgd"), slow.out.find("\nd-psgd")) << slow.out;
  EXPECT_THAT(slow.out.substr(slow.out.find("launch it:")),
              AllOf(HasSubstr(" --workers 4 "),
                    HasSubstr(" --model softmax --data digits:samples=400,test=100 --batch 8 "),
                    HasSubstr(" --steps 40 --eval-every 0.2"), Not(HasSubstr("--network"))));
  EXPECT_THAT(slow.out, AllOf(HasSubstr("diloco:period=50 with e3m0 is left out: it exchanges nothing"),
                              Not(HasSubstr("\ndiloco:period=50 "))))
      << "40 steps are less than a period";
  EXPECT_TRUE(exists(folder_ / "advice/advice.svg"));

  const auto again = advise({}, {"--network", "uniform:latency=0.05,bandwidth=4e5"});
  EXPECT_EQ(again.out, slow.out);
}

TEST_F(advising, counts_no_mean_of_models_that_have_never_met) {
  const auto early = advise({"--accuracy", "0.2"}, {"--network", "uniform:latency=0.05,bandwidth=4e5"});
  ASSERT_EQ(early.status, 0) << early.err;
  for (const char* name : {"local-sgd:period=8,collective=direct", "diloco:period=10 with e3m0"})
    EXPECT_GT(std::stod(row_of(name, early.out).at(2)), 0.05) << "a message takes so long:\n" << early.out;
  const auto islands = advise({"--accuracy", "0.2"}, {"--network", "islands:count=2"});
  EXPECT_THAT(islands.out, AllOf(HasSubstr("diloco:period=50 with e3m0 on islands is left out: it exchanges nothing"),
                                 HasSubstr("\nlocal-sgd:period=8,collective=direct on islands "),
                                 HasSubstr("\nad-psgd:in-flight=4,owed=8 with min-max:bits=8 on islands ")))
      << "each of its islands has sent something within: " << islands.err;
  const auto alone = advise({"--accuracy", "0.2"}, {"--network", "ideal", "--workers", "1"});
  EXPECT_EQ(alone.status, 0) << "one worker has nobody to meet: " << alone.err;
}

TEST_F(advising, ranks_what_ends_short_of_the_target_behind_what_keeps_it) {
  const auto ended = advise({"--accuracy", "0.4"}, {"--network", "wan"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  bool short_of_it = false;
  std::size_t behind = 0;
  std::istringstream lines{ended.out.substr(ended.out.find("in the end, %\n"))};
  std::string row;
  for (std::getline(lines, row); std::getline(lines, row) && !row.empty();) {
    const auto accuracy = std::stod(row.substr(row.rfind(' ')));
    EXPECT_FALSE(short_of_it && accuracy >= 40) << row << '\n' << ended.out;
    short_of_it = accuracy < 40;
    behind += short_of_it && row.find("  -  ") == std::string::npos;
  }
  EXPECT_GT(behind, 0u) << "a candidate has come to the target, and lost it:\n" << ended.out;
}

TEST_F(advising, says_that_ranks_rest_on_one_seed_and_marks_rates_at_the_edge) {
  const auto ended = advise({"--accuracy", "0.2"}, {"--network", "wan"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("\n\nRanks rest on one seed, 1: neighbours in the table are not separated. (edge): "));
  std::size_t at_edge = 0, between = 0;
  std::istringstream lines{ended.out.substr(ended.out.find("in the end, %\n"))};
  std::string row;
  for (std::getline(lines, row); std::getline(lines, row) && !row.empty();) {
    const auto rate = row_of(row.substr(0, row.find("  ")), ended.out).at(1);
    const bool is_middle = rate.starts_with("0.04") || rate.starts_with("0.4"); // optimisers suggest 0.01 or 0.1
    EXPECT_EQ(rate.ends_with(" (edge)"), !is_middle) << row;
    ++(is_middle ? between : at_edge);
  }
  EXPECT_GT(at_edge, 0u) << ended.out;
  EXPECT_GT(between, 0u) << ended.out;
}

TEST_F(advising, gives_all_runs_the_seed_of_the_job) {
  const words wan{"--network", "wan", "--steps", "20"};
  const auto first = advise({"--accuracy", "0.2"}, wan);
  const auto third = advise({"--accuracy", "0.2"}, wan + words{"--seed", "3"});
  ASSERT_EQ(third.status, 0) << third.err;
  EXPECT_THAT(third.out, HasSubstr("one seed, 3: "));
  EXPECT_NE(row_of("all-reduce-sgd", third.out), row_of("all-reduce-sgd", first.out))
      << "no run is kept for both seeds";
  for (const std::string command : {"see it:", "launch it:"}) {
    const auto line = third.out.substr(third.out.find(command));
    EXPECT_THAT(line.substr(0, line.find('\n')), HasSubstr(" --seed 3"));
  }
  write("seed.toml", "seed = 3\n");
  const auto of_file = advise({"--accuracy", "0.2"}, wan + words{"--config", "seed.toml"});
  EXPECT_EQ(row_of("all-reduce-sgd", of_file.out), row_of("all-reduce-sgd", third.out)) << of_file.err;
  EXPECT_EQ(advise({"--accuracy", "0.2"}, wan).out, first.out);
}

TEST_F(advising, prints_commands_that_work_where_a_file_has_the_settings) {
  std::ofstream{folder_ / "job.toml"} << "network = 'wan'\njitter = 'none'\nworkers = 4\nepochs = 2\n"
                                         "data = 'digits:samples=400,test=100'\nmodel = 'softmax'\nbatch = 8\n";
  const auto ended = run({"advise", "--accuracy", "0.2", "--", "--config", "job.toml", "--steps", "20"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto launch = ended.out.substr(ended.out.find("launch it:"));
  EXPECT_THAT(launch, AllOf(HasSubstr(" --workers 4 "), HasSubstr(" --steps 20"), Not(HasSubstr("--epochs"))));
  const auto job = launch.substr(launch.find(" -- train ") + 3);
  const auto trained = execute({"sh", "-c", GOSSAMER_COMMAND + job.substr(0, job.find('\n')) + " --out run"});
  EXPECT_EQ(trained.status, 0) << trained.err;
}

TEST_F(advising, takes_the_network_of_measured_hosts) {
  std::ofstream{folder_ / "measured.toml"} << R"(
[[host]]
host = "alpha"
slots = 2
[[host]]
host = "beta"
slots = 2
[[link]]
from = "alpha"
to = "beta"
latency = 0.01
bandwidth = 1e6
[[link]]
from = "beta"
to = "alpha"
latency = 0.01
bandwidth = 1e6
)";
  const auto ended = advise({"--hosts", "measured.toml", "--loss", "1.5"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("until a training loss of 1.5"), HasSubstr("launch --hosts measured.toml -- train"),
                    HasSubstr("simulate --network hosts:file=measured.toml"),
                    HasSubstr("\nlocal-sgd:period=8,collective=direct on islands "),
                    HasSubstr("\nd-psgd along fast links ")));
}

TEST_F(advising, repeats_runs_when_the_file_of_links_has_changed) {
  const auto with_links = [&](const std::string& text) {
    std::ofstream{folder_ / "links.csv"} << text;
    return advise({"--loss", "2.25"}, {"--network", "matrix:file=links.csv", "--steps", "8"});
  };
  const auto slow = with_links("*,*,10,100\n"), fast = with_links("*,*,1000,1\n");
  ASSERT_EQ(slow.status, 0) << slow.err;
  ASSERT_EQ(fast.status, 0) << fast.err;
  EXPECT_NE(fast.out, slow.out);
}

TEST_F(advising, takes_a_network_that_names_its_nodes_and_has_no_islands) {
  std::ofstream{folder_ / "links.csv"} << "*,*,10,100\n0,3,20,50\n";
  const auto ended = advise({"--loss", "1.5"}, {"--network", "matrix:file=links.csv"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, Not(HasSubstr(" on islands")));
}

TEST_F(advising, says_what_is_wrong) {
  EXPECT_THAT(advise({}, {"--lr", "0.1"}).err, HasSubstr("--lr is given, but advise chooses"));
  EXPECT_THAT(advise({}, {"--algorithm=d-psgd"}).err, HasSubstr("--algorithm is given, but advise chooses"));
  EXPECT_THAT(advise({}, {"--network", "wann"}).err, HasSubstr("wan"));
  EXPECT_THAT(advise({}, {"--report", "no"}).err, HasSubstr("leave it out: these runs write none"));
  EXPECT_THAT(advise({}, {"--seeds", "1..3"}).err, HasSubstr("--seeds or --explore is given behind --"));
  EXPECT_THAT(advise({"--hosts", "measured.toml"}, {"--network", "wan"}).err, HasSubstr("both --hosts and --network"));
  EXPECT_THAT(advise({"--hosts", "nothing.toml"}).err, HasSubstr("nothing.toml"));
  EXPECT_THAT(advise({"--accuracy", "95"}).err, HasSubstr("--accuracy"));
  const auto never = advise({"--accuracy", "1"}, {"--steps", "4"});
  EXPECT_EQ(never.status, 1);
  EXPECT_THAT(never.err, HasSubstr("no candidate reaches a test accuracy of 100.00 %"));
  const words regression{"--data", "quadratic:samples=100,dim=10", "--model", "quadratic"};
  const words steep{"--data", "quadratic:samples=100,dim=10", "--model", "quadratic:mu=1,l=1e6"};
  EXPECT_THAT(advise({}, steep).err, HasSubstr("all-reduce-sgd diverges at every rate"));
  EXPECT_THAT(advise({"--accuracy", "0.9"}, regression).err, HasSubstr("this model has none"));
}

} // namespace
} // namespace gossamer
