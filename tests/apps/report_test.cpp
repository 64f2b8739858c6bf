#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace gossamer::apps {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class report : public testing::Test {
protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    parent_ = std::filesystem::path(testing::TempDir()) / (std::string("gossamer-report-") + test->name());
    std::filesystem::create_directories(parent_);
  }
  void TearDown() override { std::filesystem::remove_all(parent_); }

  void write(const std::string& run, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(parent_ / run);
    std::ofstream(parent_ / run / file, std::ios::binary) << text;
  }
  /// A run with an evaluation a second, and no other file.
  void write_metrics(const std::string& run, std::size_t evaluations) const {
    std::string lines;
    for (std::size_t i = 0; i < evaluations; ++i)
      lines += to_json(actors::evaluation_record{.step = 10 * i, .time_s = static_cast<double>(i), .train_loss = 0.1})
               + "\n";
    write(run, "metrics.jsonl", lines);
  }
  std::string path(const std::string& run) const { return (parent_ / run).string(); }
  std::string data_text(const std::vector<std::string>& runs) const {
    std::vector<std::string> folders;
    for (const auto& run : runs)
      folders.push_back(path(run));
    return report_data(folders);
  }
  json data(const std::vector<std::string>& runs) const { return json::parse(data_text(runs)); }
  std::string refusal(const std::string& run) const {
    try {
      data_text({run});
      return "no error";
    } catch (const error& e) {
      return e.what();
    }
  }

  std::filesystem::path parent_;
};

TEST_F(report, holds_what_is_in_the_folder) {
  write_metrics("a", 3);
  write("a", "config.toml", "# gossamer simulate --config THIS-FILE repeats the run\nseed = 7\nworkers = 4\n");
  write("a", "events.jsonl",
        "{\"type\":\"progress\",\"time_s\":0}\n{\"type\":\"event\",\"time_s\":1.5,\"kind\":\"loss\",\"what\":\"w\"}\n");
  write("a", "faults.toml", "[[fault]]\nkind = \"kill\"\nworkers = [1]\nat = 1\n");
  write("a", "summary.json", R"({"algorithm": "d-psgd", "workers": 4, "views": 2})");
  write("a", "blame.json", R"({"total_s": 2, "workers": [], "waits": []})");
  const auto all = data({"a"});
  const auto& run = all["runs"][0];
  EXPECT_EQ(run["command"], "gossamer simulate --config " + path("a") + "/config.toml");
  EXPECT_EQ(run["evaluations"]["step"], (std::vector{0, 10, 20}));
  EXPECT_EQ(run["evaluations"]["test_accuracy"], (std::vector<json>{nullptr, nullptr, nullptr}));
  EXPECT_EQ(run["events"], json::parse(R"([{"time_s": 1.5, "kind": "loss", "what": "w"}])"));
  EXPECT_EQ(run["faults"][0]["at_s"], 1);
  EXPECT_EQ(run["faults"][0]["lasts_s"], nullptr);
  EXPECT_EQ(run["summary"]["views"], 2);
  EXPECT_EQ(run["blame"]["total_s"], 2);
  ASSERT_EQ(all["settings"].size(), 2u); // in the order of the flags
  EXPECT_EQ(all["settings"][0]["name"], "workers");
  EXPECT_EQ(all["settings"][1]["values"], (std::vector{"7"}));
}

TEST_F(report, needs_nothing_but_metrics) {
  write_metrics("a", 2);
  write_metrics("begun", 0);
  const auto runs = data({"a", "begun"})["runs"];
  for (const auto* absent : {"command", "summary", "blame"})
    EXPECT_TRUE(runs[0][absent].is_null()) << absent;
  EXPECT_TRUE(runs[0]["events"].empty());
  EXPECT_TRUE(runs[1]["evaluations"]["step"].empty());
  std::filesystem::create_symlink("circle", path("circle"));
  EXPECT_THAT(refusal("circle"), AllOf(HasSubstr("cannot read '"), HasSubstr("Too many levels of symbolic links")));
  EXPECT_THAT(refusal("absent"), AllOf(HasSubstr("absent/metrics.jsonl"), HasSubstr("No such file")));
}

TEST_F(report, leaves_out_the_line_that_a_run_is_just_writing) {
  write_metrics("a", 2);
  std::ofstream(parent_ / "a" / "metrics.jsonl", std::ios::app) << "{\"step\": 3";
  write("a", "events.jsonl", "{\"type\":\"ev");
  EXPECT_EQ(data({"a"})["runs"][0]["evaluations"]["step"].size(), 2u);
}

TEST_F(report, names_the_file_and_the_line_of_damage) {
  write_metrics("a", 2);
  std::ofstream(parent_ / "a" / "metrics.jsonl", std::ios::app) << "{\"step\": 3\n";
  EXPECT_THAT(refusal("a"), AllOf(HasSubstr("a/metrics.jsonl:3: "), HasSubstr("no JSON object")));
  write_metrics("a", 2);
  const std::vector<std::array<std::string, 4>> damaged{
      {"events.jsonl", "{\"type\":\"progress\"}\n{\"type\":\"event\"}\n", ":2: ", "there is no time_s"},
      {"events.jsonl", "\n", ":1: ", "no JSON object"},
      {"summary.json", "{\n\"a\": 1,\n\"b\": oops\n}", ":3: ", "no JSON"},
      {"summary.json", "[]", ": ", "no JSON object"},
      {"summary.json", "{\"time_s\": 1e999}", ": ", "a number is too large"},
      {"blame.json", "{}", " has ", "no workers and waits"},
      {"config.toml", "# a comment\nsede = 3\n", ":2: ", "sede"},
      {"faults.toml", "[[fault]]\nkind = 'kil'\n", ":2: ", "kill"}};
  for (const auto& [file, text, place, problem] : damaged) {
    write("a", file, text);
    EXPECT_THAT(refusal("a"), AllOf(HasSubstr("a/" + file + place), HasSubstr(problem)));
    std::filesystem::remove(parent_ / "a" / file);
  }
}

TEST_F(report, keeps_hostile_texts_inside_of_its_data) {
  const std::string hostile = "<!--<script>\xff\"\\'</SCRIPT ><img src=x onerror=alert(1)>";
  const std::string run = "x<script>\xff\"'&";
  write_metrics(run, 1);
  write(run, "config.toml", "# gossamer train --config THIS-FILE repeats the run\ndata = '</script>'\n");
  write(run, "events.jsonl",
        json{{"type", "event"}, {"time_s", 0}, {"kind", "<b>"}, {"what", hostile}}.dump(-1, ' ', false,
                                                                                        json::error_handler_t::replace)
            + "\n");
  const auto text = data_text({run});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("<")), HasSubstr("\\u003c/SCRIPT >")));
  const auto all = json::parse(text);
  EXPECT_EQ(all["settings"][0]["values"][0], "</script>");
  EXPECT_EQ(all["runs"][0]["events"][0]["kind"], "note");
  EXPECT_THAT(all["runs"][0]["command"].get<std::string>(), HasSubstr("'\\''&/config.toml'")); // quoted for a shell
}

TEST_F(report, has_a_bounded_size) {
  write_metrics("long", 3 * most_rows);
  std::string events, waits;
  for (std::size_t i = 0; i < 2 * most_rows; ++i) {
    events += to_line(actors::event_record{1, actors::event_kind::fault, "f"}) + "\n";
    waits += std::string(i > 0 ? "," : "") + R"({"waiter": 0, "culprit": 1, "seconds": 1})";
  }
  write("long", "events.jsonl", events);
  write("long", "blame.json", R"({"total_s": 1, "workers": [], "waits": [)" + waits + "]}");
  const auto run = data({"long"})["runs"][0];
  EXPECT_LE(run["evaluations"]["step"].size(), most_rows);
  EXPECT_EQ(run["evaluations"]["step"].back(), 10 * (3 * most_rows - 1)); // the last one stays
  EXPECT_EQ(run["events"].size(), most_rows);
  EXPECT_EQ(run["left_out"]["events"], most_rows);
  EXPECT_EQ(run["left_out"]["evaluations"].get<std::size_t>() + run["evaluations"]["step"].size(), 3 * most_rows);
  EXPECT_EQ(run["left_out"]["waits"].get<std::size_t>() + run["blame"]["waits"].size(), 2 * most_rows);
}

TEST_F(report, is_one_file_that_lets_nothing_else_run) {
  try {
    require_reports();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("libjs-dygraphs"));
    GTEST_SKIP() << e.what();
  }
  write_metrics("a{{data}}", 2);
  const auto page = report_of({path("a{{data}}")});
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'sha256-"), HasSubstr("a{{data}}\""),
                          Not(HasSubstr("{{script}}")), Not(HasSubstr("<script src")),
                          Not(HasSubstr("<link rel=\"stylesheet")), Not(HasSubstr("\nimport ")),
                          Not(HasSubstr("\nexport "))));
  std::size_t ends = 0;
  for (auto at = page.find("</script"); at != std::string::npos; at = page.find("</script", at + 1))
    ++ends;
  EXPECT_EQ(ends, 3u);
}

} // namespace
} // namespace gossamer::apps
