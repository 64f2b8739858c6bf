// What Prometheus reads of a run, and the board that shows it.
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/apps/detail/metrics.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <regex>
#include <set>

#include "support/scratch_folder.hpp"
#include "support/subprocess.hpp"

namespace gossamer::apps {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Not;

/// A run of four workers and a master.
class metrics_of_a_run : public testing::Test {
protected:
  void begin(const std::string& algorithm = "d-psgd") {
    actors::run_settings s;
    s.algorithm = algorithm;
    lines_.add("run", first_line(s, "gossamer train"));
  }
  void go_on() {
    run_.on_view(
        {.number = 3, .leader = 1, .members = {0, 1, 3}, .masters = {4}, .nodes = {0, 0, 1, 1}, .edges = {{0, 1}}});
    run_.on_workers(
        {.of = {{.steps = 7, .payload_bits = 12, .wire_bits = 80}, {.steps = 5}, {}, {.steps = 6}, {}}, .waits = {}});
    run_.on_progress({.epoch = 1.5, .planned_epochs = INFINITY, .loss = 0.5, .accuracy = {}});
    run_.on_evaluation({.step = 18, .train_loss = 0.25, .test_loss = NAN, .test_accuracy = 0.75});
    run_.on_evaluation({.step = 20, .train_loss = 0.125, .test_loss = NAN, .test_accuracy = 0.875});
    run_.on_event({.kind = actors::event_kind::fault, .what = "worker 2 is killed"});
    run_.on_event({.kind = actors::event_kind::loss, .what = "worker 2 is lost"});
    run_.on_event({.kind = actors::event_kind::fault, .what = "link 0-1 is down"});
  }
  std::string text() const { return metrics_text(lines_); }

  line_history lines_;
  line_observer run_{[this](const auto& type, std::string line) { lines_.add(type, std::move(line)); }};
};

TEST(the_first_line, is_json_whatever_a_folder_is_called) {
  EXPECT_THAT(first_line({}, "runs/\xff"), HasSubstr("runs/\uFFFD: ad-psgd"));
}

TEST_F(metrics_of_a_run, are_those_of_its_newest_records) {
  begin();
  go_on();
  EXPECT_THAT(text(), AllOf(HasSubstr("# TYPE gossamer_gradients_total counter\n"
                                      "gossamer_gradients_total{worker=\"0\"} 7\n"
                                      "gossamer_gradients_total{worker=\"1\"} 5\n"),
                            HasSubstr("gossamer_payload_bytes_total{worker=\"0\"} 1.5\n"),
                            HasSubstr("gossamer_wire_bytes_total{worker=\"0\"} 10\n"),
                            HasSubstr("\ngossamer_view_number 3\n"), HasSubstr("\ngossamer_members 3\n"),
                            HasSubstr("\ngossamer_masters 1\n"), HasSubstr("\ngossamer_train_loss 0.125\n"),
                            HasSubstr("\ngossamer_test_accuracy_ratio 0.875\n"), HasSubstr("\ngossamer_epochs 1.5\n"),
                            HasSubstr("\ngossamer_ended 0\n"), HasSubstr("\ngossamer_evaluations_total 2\n")));
  EXPECT_THAT(text(), AllOf(HasSubstr("gossamer_events_total{kind=\"fault\"} 2\n"),
                            HasSubstr("gossamer_events_total{kind=\"loss\"} 1\n")));
  EXPECT_THAT(text(), AllOf(Not(HasSubstr("gossamer_test_loss")), Not(HasSubstr("planned"))))
      << "no number that is not finite";
  EXPECT_THAT(text(), Not(HasSubstr("islands")));
  run_.on_workers({.has_islands = true, .of = {{.payload_bits_between_islands = 20}, {}}, .waits = {}});
  EXPECT_THAT(text(), HasSubstr("gossamer_payload_bytes_between_islands_total{worker=\"0\"} 2.5\n"));
  lines_.add("end", last_line("planned"));
  EXPECT_THAT(text(), HasSubstr("\ngossamer_ended 1\n"));
}

TEST_F(metrics_of_a_run, count_events_that_no_digest_has) {
  for (std::size_t i = 0; i <= line_history::most_kept; ++i)
    run_.on_event({.kind = actors::event_kind::fault, .what = ""});
  EXPECT_THAT(text(), HasSubstr("{kind=\"fault\"} " + std::to_string(line_history::most_kept + 1)));
}

TEST_F(metrics_of_a_run, are_few_however_many_workers_there_are) {
  run_.on_workers(
      {.of = std::vector<actors::workers_record::counts>(100'000, {.steps = 2, .wire_bits = 80}), .waits = {}});
  EXPECT_THAT(text(), AllOf(HasSubstr("\ngossamer_gradients_total 200000\n"),
                            HasSubstr("\ngossamer_wire_bytes_total 1000000\n"), Not(HasSubstr("worker=\""))));
}

TEST_F(metrics_of_a_run, escape_what_a_label_may_not_hold) {
  begin("own\"\\\nname");
  EXPECT_THAT(text(), HasSubstr(R"(gossamer_run_info{title="own\"\\\nname with)"));
}

TEST_F(metrics_of_a_run, are_what_promtool_wants) {
  begin();
  go_on();
  const test::scratch_folder folder;
  folder.write("metrics", text());
  const auto check = [&](const std::string& command) {
    return support::subprocess({"env", "-C", folder.path(), "sh", "-c", command}).finish();
  };
  if (check("command -v promtool").status != 0)
    GTEST_SKIP() << "no promtool: apt-get install prometheus";
  const auto found = check("promtool check metrics < metrics");
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.out + found.err, "") << text();
}

TEST_F(metrics_of_a_run, are_all_that_the_board_of_grafana_names) {
  const auto names_in = [](const std::string& where) {
    std::set<std::string> names;
    const std::regex name{"gossamer_[a-z_]+"};
    for (std::sregex_iterator at{where.begin(), where.end(), name}, end; at != end; ++at)
      names.insert(at->str());
    return names;
  };
  begin();
  go_on();
  run_.on_evaluation({.test_loss = 1, .test_accuracy = 1});
  run_.on_progress({.planned_epochs = 2, .accuracy = {}});
  std::ifstream file{std::string{GOSSAMER_SOURCE_DIR} + "/docs/grafana-board.json"};
  const auto board = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(board.is_object());
  std::string asked;
  for (const auto& panel : board.at("panels"))
    for (const auto& target : panel.at("targets"))
      asked += target.at("expr").get<std::string>() + '\n';
  EXPECT_THAT(names_in(asked), IsSubsetOf(names_in(text())));
  EXPECT_GT(names_in(asked).size(), 5u);
}

} // namespace
} // namespace gossamer::apps
