// A program with a codec, a topology and an optimiser of its own (apps/examples/own_parts.cpp), and who may join it.
#include <csignal>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class own_program : public command {
protected:
  static inline const words job =
      small + words{"--algorithm", "d-psgd",     "--workers",   "4",      "--codec", "powers-of-two",
                    "--topology",  "racks:of=2", "--optimiser", "signum", "--out",   "run"};

  support::outcome run_own(const words& given) const { return execute(words{OWN_PARTS} + given); }

  /// Returns what the built-in command says that joins this job of the program.
  std::string refusal_of(const words& of_leader) const {
    support::outcome joined;
    support::subprocess leader(words{"env", "-C", folder_.string(), OWN_PARTS, "node", "--listen", "127.0.0.1:0", "--"}
                               + of_leader);
    leader.when("--join", [&](const support::outcome& so_far) {
      const auto address = so_far.err.substr(so_far.err.find("--join ") + 7);
      joined = support::subprocess(gossamer({"node", "--join", address.substr(0, address.find('\n'))})).finish();
      leader.send_signal(SIGKILL);
    });
    leader.finish();
    EXPECT_EQ(joined.status, 2) << joined.err;
    return joined.err;
  }
};

TEST_F(own_program, trains_in_all_worlds_and_lists_its_parts) {
  const auto launched = run_own(words{"launch", "--hosts", "localhost:2", "--"} + job);
  EXPECT_EQ(launched.status, 0) << launched.err;
  EXPECT_GT(json::parse(read("run/summary.json"))["payload_bits"], 0);
  EXPECT_EQ(run_own(job + words{"--overwrite"}).status, 0);
  const auto simulated = run_own(words{"simulate"} + words(job.begin() + 1, job.end()) + words{"--overwrite"});
  EXPECT_EQ(simulated.status, 0) << simulated.err;
  EXPECT_THAT(run_own({"list", "codecs"}).out, HasSubstr("powers-of-two"));
  EXPECT_THAT(run_own({"list", "topologies"}).out, HasSubstr("racks:of=4"));
  EXPECT_THAT(run_own({"explain", "signum"}).out, HasSubstr("signum (optimiser)"));
  EXPECT_THAT(run_own({"completion", "bash"}).out, AllOf(HasSubstr("powers-of-two"), HasSubstr("racks")));
}

TEST_F(own_program, reads_what_its_codec_costs) {
  write("cost.toml", "[encode-byte]\npowers-of-two = 0.7\n");
  const auto simulated = run_own(words{"simulate"} + words(job.begin() + 1, job.end()) + words{"--cost", "cost.toml"});
  EXPECT_EQ(simulated.status, 0) << simulated.err;
}

TEST_F(own_program, is_joined_by_no_other) {
  EXPECT_THAT(refusal_of(job), AllOf(HasSubstr("the leader's run cannot be prepared here: unknown codec "
                                               "'powers-of-two'"),
                                     HasSubstr("if the leader runs another program or version, start that one here")));
  EXPECT_THAT(refusal_of(small + words{"--out", "another"}),
              HasSubstr("codec powers-of-two is number 128, powers-of-two here and not given there"));
}

} // namespace
} // namespace gossamer
