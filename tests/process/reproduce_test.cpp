#include <algorithm>
#include <csignal>
#include <thread>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class reproduce : public command {
protected:
  /// Runs a few steps only. Their results do not matter here.
  support::outcome few_steps(const words& more = {}, const words& job = {}) const {
    return run(words{"reproduce", "tang2018-figure1", "--quick", "--out", "found"} + more + words{"--", "--steps", "2"}
               + job);
  }
  std::vector<std::filesystem::path> runs() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "found/runs"))
      files.push_back(entry.path());
    return files;
  }
  std::filesystem::file_time_type written(const std::filesystem::path& file) const {
    return std::filesystem::last_write_time(file);
  }
  void expect_refusal(const words& given, const words& said) const {
    SCOPED_TRACE(testing::PrintToString(given));
    const auto ended = run(words{"reproduce"} + given);
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, StartsWith("gossamer: "));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    for (const auto& word : said)
      EXPECT_THAT(ended.err, HasSubstr(word));
  }
};

TEST_F(reproduce, lists_what_there_is) {
  const auto listed = run({"reproduce", "--list"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_THAT(listed.err, IsEmpty());
  EXPECT_THAT(listed.out, AllOf(HasSubstr("tang2018-figure1 "), HasSubstr("NeurIPS 2018, figure 1")));
}

TEST_F(reproduce, fails_when_something_does_not_come_back) {
  const auto ended = few_steps(); // too few steps to learn anything
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("| **no** |"), HasSubstr("`gossamer reproduce tang2018-figure1 --quick -- --steps 2`")));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("of what must come back did not"), HasSubstr("found")));
}

TEST_F(reproduce, records_the_command_by_its_own_name) {
  std::filesystem::create_symlink(GOSSAMER_COMMAND, folder_ / "another");
  execute({"./another", "reproduce", "tang2018-figure1", "--quick", "--out", "found", "--", "--steps", "2"});
  EXPECT_EQ(json::parse(read("found/tang2018-figure1.json"))["command"],
            "gossamer reproduce tang2018-figure1 --quick -- --steps 2");
}

TEST_F(reproduce, goes_on_with_the_runs_that_are_missing_or_damaged) {
  const auto first = few_steps();
  const auto files = runs();
  ASSERT_GE(files.size(), 4u);
  std::map<std::filesystem::path, std::filesystem::file_time_type> before;
  for (const auto& file : files)
    before[file] = written(file);
  std::filesystem::remove(files[0]);
  std::filesystem::resize_file(files[1], 20);
  auto changed = json::parse(read(std::filesystem::relative(files[2], folder_).string()));
  changed["evaluations"] = "none";
  std::ofstream(files[2]) << changed;
  const auto second = few_steps();
  for (const auto& file : files)
    EXPECT_EQ(written(file) == before[file], file != files[0] && file != files[1] && file != files[2]) << file;
  EXPECT_EQ(second.status, first.status);
  EXPECT_EQ(second.out.substr(second.out.find("| method")), first.out.substr(first.out.find("| method")));
}

TEST_F(reproduce, repeats_runs_when_a_file_or_the_program_has_changed) {
  const auto with_config = [&](const std::string& text) {
    write("more.toml", text);
    return few_steps({}, {"--config", "more.toml"});
  };
  with_config("sample-time = 1\n");
  const auto file = std::filesystem::relative(runs().at(0), folder_).string();
  const auto first = json::parse(read(file));
  with_config("sample-time = 2\n");
  const auto second = json::parse(read(file));
  EXPECT_GT(second["computing_s"], first["computing_s"]);

  auto old = second;
  const auto flags = old["flags"].get<std::string>();
  for (const auto& key : {flags.substr(0, flags.find(" # ")), flags + " of an earlier version"}) {
    old["flags"] = key;
    old["computing_s"] = 0;
    write(file, old.dump());
    with_config("sample-time = 2\n");
    EXPECT_EQ(json::parse(read(file))["computing_s"], second["computing_s"]) << key;
  }
}

TEST_F(reproduce, ends_at_an_interrupt_and_keeps_what_is_there) {
  const words many{"reproduce", "tang2018-figure1", "--jobs", "1", "--out", "found", "--", "--steps", "50"};
  support::subprocess program(words{"env", "-C", folder_.string()} + gossamer(many));
  while (!exists("found/runs") || runs().empty())
    std::this_thread::yield();
  program.send_signal(SIGINT);
  const auto ended = program.finish();
  EXPECT_EQ(ended.status, 128 + SIGINT);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr("tang2018-figure1 was interrupted; the same command goes on"));
  EXPECT_FALSE(runs().empty());
}

TEST_F(reproduce, prints_a_page_of_what_was_found) {
  few_steps();
  const auto ended = run({"reproduce", "--page", "--out", "found"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("[tang2018-figure1](#tang2018-figure1)"), HasSubstr("(found/tang2018-figure1.svg)"),
                    HasSubstr("not run yet"), StartsWith("The runs took 0.0 h of one processor.\n")));
  std::filesystem::resize_file(folder_ / "found/tang2018-figure1.json", 30);
  const auto damaged = run({"reproduce", "--page", "--out", "found"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, IsEmpty());
  EXPECT_THAT(damaged.err,
              AllOf(HasSubstr("found/tang2018-figure1.json' is damaged"), Not(HasSubstr("json.exception"))));
}

TEST_F(reproduce, takes_flags_that_it_does_not_compare) {
  EXPECT_THAT(few_steps({"--data", "digits:samples=200,test=100", "--model", "softmax"}).out,
              HasSubstr("--data digits:samples=200,test=100 --model softmax -- --steps 2"));
  expect_refusal({"tang2018-figure1", "--out", "x", "--", "--lr", "3"}, {"--lr is given", "tang2018-figure1 compares"});
  expect_refusal({"tang2018-figure1", "--out", "x", "--", "--lrr", "3"}, {"--lrr"});
  expect_refusal({"tang2018-figure1", "--quick", "--out", "x", "--model", "mlpp"},
                 {"unknown model 'mlpp'", "did you mean 'mlp'"});
}

TEST_F(reproduce, says_what_is_wrong_with_a_request) {
  expect_refusal({}, {"no reproduction is named", "--list"});
  expect_refusal({"tang2018-figure1", "--all"}, {"both --all and names"});
  expect_refusal({"tang2018-figure11"},
                 {"unknown reproduction 'tang2018-figure11'", "did you mean 'tang2018-figure1'"});
  write("file", "");
  const auto ended = run({"reproduce", "tang2018-figure1", "--quick", "--out", "file"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("cannot make file/runs"), HasSubstr("--out")));
}

} // namespace
} // namespace gossamer
