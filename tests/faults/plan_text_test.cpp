#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using enum fault_kind;

fault_plan parse(std::string_view text) { return parse_plan(text, "plan.toml"); }

std::string refusal(std::string_view text) {
  return usage_error([&] { parse(text); });
}

/// Returns the message about a fault of this kind whose third line is `line`.
std::string refusal(std::string_view kind, std::string_view line) {
  return refusal("[[fault]]\nkind = '" + std::string{kind} + "'\n" + std::string{line} + "\n");
}

TEST(parse_plan, reads_every_key) {
  const auto plan = parse(R"(
[[fault]]
kind = "kill"
workers = [3]
at = 2.5
for = 1

[[fault]]
kind = "slow"
workers = [0]
nodes = [1, 2]
at-step = 100
factor = 4

[[fault]]
kind = "partition"
from = [0]
to = [1]
one-way = true

[[fault]]
kind = "reorder"
from = [0]
rate = 0.1
seconds = 1e-3

[[fault]]
kind = "throttle"
bits-per-second = 1_000_000

[[fault]]
kind = "kill"
nodes = [1]
processes = true

[[fault]]
kind = "kill"
coordinators = 2
for = 3
)");
  const fault_plan expected{{{.kind = kill, .workers = {3}, .at_s = 2.5, .lasts_s = 1},
                             {.kind = slow, .workers = {0}, .nodes = {1, 2}, .at_step = 100, .factor = 4},
                             {.kind = partition, .from = {0}, .to = {1}, .one_way = true},
                             {.kind = reorder, .from = {0}, .rate = 0.1, .seconds = 1e-3},
                             {.kind = throttle, .bits_per_second = 1e6},
                             {.kind = kill, .nodes = {1}, .processes = true},
                             {.kind = kill, .lasts_s = 3, .coordinators = 2}}};
  EXPECT_EQ(plan, expected);
  EXPECT_EQ(plan.faults[0].written_at.text, "plan.toml:2");
  EXPECT_EQ(plan.faults[1].written_at.text, "plan.toml:8");
  EXPECT_EQ(parse(to_toml(expected)), expected);
}

TEST(parse_plan, takes_a_plan_without_faults) {
  EXPECT_EQ(parse(""), fault_plan{});
  EXPECT_EQ(parse("# nothing\n"), fault_plan{});
  EXPECT_EQ(parse("fault = []"), fault_plan{});
  EXPECT_EQ(parse(to_toml({})), fault_plan{});
}

TEST(parse_plan, refuses_what_is_no_toml) {
  EXPECT_THAT(refusal("[[fault]]\nkind = "), AllOf(StartsWith("plan.toml:2: "), HasSubstr("TOML")));
  EXPECT_THAT(refusal("[[fault]]\nkind = 'kill'\nkind = 'kill'"), StartsWith("plan.toml:3: "));
}

TEST(parse_plan, refuses_what_is_not_a_list_of_faults) {
  EXPECT_THAT(refusal("\nfaults = 1"), StartsWith("plan.toml:2: unknown key 'faults'; each fault of a plan begins"));
  EXPECT_THAT(refusal("[fault]\nkind = 'kill'"), HasSubstr("in double brackets"));
  EXPECT_THAT(refusal("fault = [1]"), HasSubstr("fault is not a list of tables"));
  EXPECT_THAT(refusal("fault = [{kind = 'drop'}, 1]"), HasSubstr("fault is not a list of tables"));
}

TEST(parse_plan, refuses_a_kind_that_it_does_not_know) {
  EXPECT_THAT(refusal("\n\n[[fault]]\nat = 1"),
              StartsWith("plan.toml:3: this fault has no kind; write kind = \"...\""));
  EXPECT_THAT(refusal("[[fault]]\nkind = 3"), HasSubstr("has no kind"));
  EXPECT_THAT(refusal("kil", ""),
              StartsWith("plan.toml:2: unknown kind of fault 'kil'; did you mean 'kill'? known: kill, pause"));
  EXPECT_THAT(refusal("delete", ""), HasSubstr("known: kill, pause, slow, partition, drop, duplicate, reorder"));
}

TEST(parse_plan, suggests_the_nearest_key_of_the_kind) {
  EXPECT_THAT(refusal("kill", "worker = [3]"),
              StartsWith("plan.toml:3: unknown key of kill 'worker'; did you mean 'workers'? known: kind, workers, "
                         "nodes, processes, coordinators, "
                         "at, at-step, for"));
  EXPECT_THAT(refusal("throttle", "bits_per_second = 5"), HasSubstr("did you mean 'bits-per-second'?"));
}

TEST(parse_plan, says_which_kinds_a_key_is_for) {
  EXPECT_THAT(refusal("kill", "rate = 1"),
              StartsWith("plan.toml:3: kill has no rate; rate is for drop, duplicate, reorder, corrupt, delay"));
  EXPECT_THAT(refusal("delay", "one-way = false"), HasSubstr("delay has no one-way; one-way is for partition"));
  EXPECT_THAT(refusal("kill", "from = [1]"), HasSubstr("from is for partition, drop, duplicate"));
}

TEST(parse_plan, refuses_values_of_another_type) {
  EXPECT_THAT(refusal("kill", "workers = 3"),
              StartsWith("plan.toml:3: workers of kill is 3; workers takes a list of ranks, such as [0, 3]"));
  for (const auto* list : {"[]", "[-1]", "[1.5]", "['1']", "[4294967296]", "[[1]]", "'1'", "true", "{a = 1}"})
    EXPECT_THAT(refusal("kill", "workers = " + std::string{list}), HasSubstr("workers takes a list of ranks")) << list;
  EXPECT_THAT(refusal("kill", "nodes = [-1]"), HasSubstr("nodes takes a list of groups"));
  for (const auto* value : {"[1]", "true", "1979-05-27"})
    EXPECT_THAT(refusal("drop", "at = " + std::string{value}), HasSubstr("at takes a number from 0 to 1e+09")) << value;
  for (const auto* value : {"1.5", "-1", "'1'", "1.0"})
    EXPECT_THAT(refusal("drop", "at-step = " + std::string{value}), HasSubstr("at-step takes a whole number")) << value;
  for (const auto* value : {"1", "'true'"})
    EXPECT_THAT(refusal("partition", "one-way = " + std::string{value}), HasSubstr("one-way takes true or false"));
}

TEST(parse_plan, refuses_values_out_of_range) {
  EXPECT_THAT(refusal("drop", "rate = 1.5"),
              StartsWith("plan.toml:3: rate of drop is 1.5, which is out of range; allowed: a number from 1e-09 to 1 "
                         "(share of the frames that are hit)"));
  for (const auto* line : {"rate = 0", "rate = nan", "rate = inf", "for = 0", "for = -1", "at = -0.1", "at = 2e9"})
    EXPECT_THAT(refusal("drop", line), HasSubstr("out of range")) << line;
  EXPECT_THAT(refusal("slow", "factor = 0.9"), HasSubstr("factor of slow is 0.9, which is out of range"));
  EXPECT_THAT(refusal("kill", "workers = [3, 3]"), StartsWith("plan.toml:3: workers of kill names 3 twice"));
}

TEST(parse_plan, refuses_what_is_missing) {
  EXPECT_THAT(refusal("kill", ""), StartsWith("plan.toml:1: this kill strikes nobody"));
  EXPECT_THAT(refusal("delay", ""), HasSubstr("this delay needs seconds; seconds takes a number from 1e-09 to 1e+09"));
  EXPECT_THAT(refusal("drop", "at = 1\nat-step = 1"), HasSubstr("both at and at-step"));
}

TEST(parse_plan, reads_or_refuses_whatever_it_is_given) {
  random_sequence random{random_stream{1, 0, purpose::chaos}, 0};
  using namespace std::literals;
  constexpr auto letters = "[]{}=\"'\n\\#.,-+_eE09azin \0\xff"sv;
  int refused = 0, read = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    auto text = to_toml(draw_plan(seed % 50, {}));
    for (auto changes = 1 + random.below(3); changes > 0; --changes)
      text[random.below(static_cast<std::uint32_t>(text.size()))] = letters[random.below(letters.size())];
    try {
      const auto plan = parse(text);
      EXPECT_EQ(parse(to_toml(plan)), plan) << text;
      ++read;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.what(), StartsWith("plan.toml:")) << text;
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 100);
}

TEST(to_toml, says_how_to_use_it_and_what_happens) {
  const auto text = to_toml({{{.kind = kill, .workers = {3}, .at_s = 2.5, .lasts_s = 1}}});
  EXPECT_THAT(text, StartsWith("# "));
  EXPECT_THAT(text, HasSubstr("--faults THIS-FILE"));
  EXPECT_THAT(text,
              HasSubstr("\n# worker 3 is dead from 2.5 s to 3.5 s\n[[fault]]\nkind = \"kill\"\nworkers = [3]\nat = "
                        "2.5\nfor = 1\n"));
}

TEST(read_plan, says_why_a_file_cannot_be_read) {
  for (const std::filesystem::path& file :
       {std::filesystem::path{"no-such-plan.toml"}, std::filesystem::temp_directory_path()})
    try {
      read_plan(file);
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::io);
      EXPECT_THAT(e.what(), AllOf(HasSubstr(file.string()), testing::Not(HasSubstr("Success"))));
    }
}

TEST(read_plan, names_the_file_in_messages) {
  const auto file = std::filesystem::path{testing::TempDir()} / "gossamer_read_plan_test.toml";
  std::ofstream{file} << std::string(5000, '\n') << "[[fault]]\nkind = 'kil'\n";
  EXPECT_THAT(usage_error([&] { read_plan(file); }), StartsWith(file.string() + ":5002: unknown kind of fault"));
  std::ofstream{file} << "";
  EXPECT_EQ(read_plan(file), fault_plan{});
  std::filesystem::remove(file);
}

/// Returns the texts between ```toml and ``` in a page of the documentation.
std::vector<std::string> toml_blocks(const std::filesystem::path& page) {
  std::ifstream in{page};
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line);)
    if (line == "```toml") {
      inside = true;
      blocks.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  return blocks;
}

TEST(the_docs, show_plans_that_can_be_read_and_every_kind) {
  std::set<fault_kind> shown;
  for (const auto& block : toml_blocks(std::filesystem::path{GOSSAMER_SOURCE_DIR} / "docs/fault-injection.md")) {
    const auto plan = parse_plan(block, "fault-injection.md");
    EXPECT_FALSE(plan.faults.empty()) << block;
    EXPECT_NO_THROW(check(plan, 10, 2)) << block;
    for (const auto& f : plan.faults)
      shown.insert(f.kind);
  }
  EXPECT_EQ(shown.size(), fault_kinds);
}

} // namespace
} // namespace gossamer::actors
