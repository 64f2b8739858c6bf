#include <sstream>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

const words kinds{"algorithms", "codecs",     "topologies", "models",   "data",
                  "partitions", "optimisers", "schedules",  "networks", "jitters"};

class catalogue : public command {
protected:
  json list(const std::string& kind) const {
    const auto listed = run({"list", kind, "--json"});
    EXPECT_EQ(listed.status, 0) << listed.err;
    return json::parse(listed.out, nullptr, false);
  }
};

TEST_F(catalogue, lists_every_kind_for_people_and_for_programs) {
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind);
    const auto entries = list(kind);
    ASSERT_TRUE(entries.is_array());
    EXPECT_FALSE(entries.empty());
    const auto text = run({"list", kind});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.err, IsEmpty());
    for (const auto& entry : entries) {
      EXPECT_THAT(text.out, HasSubstr(entry["name"]));
      EXPECT_THAT(text.out, HasSubstr(entry["summary"]));
      EXPECT_NE(entry["summary"], "");
      for (const auto& parameter : entry["parameters"])
        EXPECT_THAT(text.out, HasSubstr(parameter["key"].get<std::string>() + "="));
    }
  }
}

TEST_F(catalogue, explains_every_name) {
  for (const auto& kind : kinds)
    for (const auto& entry : list(kind)) {
      SCOPED_TRACE(entry["name"].get<std::string>());
      const auto explained = run({"explain", entry["name"]});
      EXPECT_EQ(explained.status, 0);
      EXPECT_THAT(explained.err, IsEmpty());
      EXPECT_THAT(explained.out, AllOf(HasSubstr(entry["name"]), HasSubstr(entry["summary"])));
      for (const auto& parameter : entry["parameters"])
        EXPECT_THAT(explained.out, AllOf(HasSubstr(parameter["key"]), HasSubstr(parameter["meaning"])));
    }
}

TEST_F(catalogue, helps_on_standard_output) {
  const auto help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("train"), HasSubstr("list"), HasSubstr("explain")));
  const auto train = run({"train", "--help"});
  EXPECT_EQ(train.status, 0);
  for (const char* flag : {"--algorithm", "--codec", "--config", "--json", "--out", "--overwrite", "--seed"})
    EXPECT_THAT(train.out, HasSubstr(flag));
  const auto simulate = run({"simulate", "--help"});
  for (const char* flag : {"--algorithm", "--network", "--chaos", "--seeds", "--shrink", "--twice"})
    EXPECT_THAT(simulate.out, HasSubstr(flag));
  for (const char* about : {"list", "explain"})
    EXPECT_EQ(run({about, "--help"}).status, 0);
}

TEST_F(catalogue, helps_also_without_dashes) {
  for (const words& about : {words{}, words{"train"}, words{"sweep"}}) {
    const auto help = run(words{"help"} + about);
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_EQ(help.out, run(about + words{"--help"}).out);
  }
  EXPECT_THAT(run({"help"}).out, StartsWith("Usage: gossamer COMMAND"));
  EXPECT_THAT(run({"help", "launch", "--", "train"}).out, StartsWith("Usage: gossamer launch "));
  const auto misspelt = run({"help", "trian"});
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err, "gossamer: unexpected argument 'trian'; did you mean 'train'?\n");
}

TEST_F(catalogue, says_what_to_begin_with) {
  const auto nothing = run({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.out, IsEmpty());
  EXPECT_THAT(nothing.err, AllOf(StartsWith("Usage: gossamer COMMAND"), HasSubstr("gossamer --help")));
}

TEST_F(catalogue, lists_the_kinds) {
  const auto text = run({"list"});
  EXPECT_EQ(text.status, 0) << text.err;
  const auto entries = json::parse(run({"list", "--json"}).out);
  ASSERT_EQ(entries.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(entries[i]["kind"], kinds[i]);
    EXPECT_EQ(entries[i]["entries"], list(kinds[i]).size());
    EXPECT_NE(entries[i]["summary"], "") << kinds[i];
    EXPECT_THAT(text.out, HasSubstr(kinds[i]));
  }
}

TEST_F(catalogue, helps_without_signs_of_the_parser_and_within_the_width) {
  for (const char* columns : {"50", "80", "120"})
    for (const char* about : {"train", "simulate", "launch", "node", "certs", "reproduce", "plot", "stop"}) {
      SCOPED_TRACE(about);
      const auto help = execute({"env", "COLUMNS=" + std::string{columns}, GOSSAMER_COMMAND, about, "--help"}).out;
      for (const char* sign : {"{false}", " in [", "OPTIONS", "Needs:", "Excludes:", "REQUIRED", "range "})
        EXPECT_THAT(help, testing::Not(HasSubstr(sign)));
      std::istringstream lines(help);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), std::stoul(columns)) << line;
    }
  EXPECT_THAT(run({"launch", "--help"}).out, HasSubstr("(default: 0; 0 to 1000000)"));
}

TEST_F(catalogue, puts_every_flag_of_a_run_under_a_heading) {
  for (const char* about : {"train", "simulate", "launch", "node"}) {
    const auto help = run({about, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("\nOther flags\n  -h, --help ")) << help;
  }
}

TEST_F(catalogue, tells_its_version) {
  const auto version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, MatchesRegex("gossamer [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(catalogue, suggests_what_was_meant) {
  const auto kind = run({"list", "codes"});
  EXPECT_EQ(kind.status, 2);
  EXPECT_THAT(kind.err, AllOf(StartsWith("gossamer: "), HasSubstr("did you mean 'codecs'?")));
  const auto name = run({"explain", "dpsgd"});
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.err, AllOf(StartsWith("gossamer: "), HasSubstr("did you mean 'd-psgd'?")));
}

} // namespace
} // namespace gossamer
