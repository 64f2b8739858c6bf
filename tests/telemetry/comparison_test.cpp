#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/actors/telemetry/plot.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Returns the points of the curves, run by run.
std::vector<std::string> curves(const std::string& svg) {
  std::vector<std::string> result;
  for (std::size_t at = 0; (at = svg.find(" points='", at)) != std::string::npos;) {
    at += 9;
    result.push_back(svg.substr(at, svg.find("'/>", at) - at));
  }
  return result;
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

recorded_run run_with(std::string label, const std::vector<double>& losses) {
  recorded_run run{std::move(label), {}};
  for (const double loss : losses) {
    evaluation_record r;
    r.epoch = static_cast<double>(run.evaluations.size());
    r.time_s = 2 * r.epoch;
    r.payload_bits = 1'500'000 * run.evaluations.size();
    r.train_loss = loss;
    r.test_loss = 2 * loss;
    r.test_accuracy = 1 - loss / 10;
    run.evaluations.push_back(r);
  }
  return run;
}

std::string drawn(const std::vector<double>& losses, std::string_view x = "epochs", std::string_view y = "train-loss") {
  const std::vector runs{run_with("run", losses)};
  return compare(runs, x, y);
}

TEST(comparison, maps_values_onto_pixels) {
  EXPECT_THAT(curves(drawn({4, 2, 1})), ElementsAre("64.0,56.0 380.0,208.0 696.0,284.0 "));        // from 0 to 4
  EXPECT_THAT(curves(drawn({100, 10, 1})), ElementsAre("64.0,56.0 380.0,208.0 696.0,360.0 "));     // over two decades
  EXPECT_THAT(curves(drawn({5, 0}, "epochs", "accuracy")), ElementsAre("64.0,360.0 696.0,56.0 ")); // from 0.5 to 1
}

TEST(comparison, uses_one_scale_for_all_runs) {
  const std::vector runs{run_with("long", {4, 4, 4, 4, 4}), run_with("short", {2, 2, 2})};
  EXPECT_THAT(
      curves(compare(runs, "seconds", "train-loss")),
      ElementsAre("64.0,56.0 222.0,56.0 380.0,56.0 538.0,56.0 696.0,56.0 ", "64.0,208.0 222.0,208.0 380.0,208.0 "));
}

TEST(comparison, labels_its_axes) {
  EXPECT_THAT(drawn({4, 2, 1}, "seconds"), AllOf(HasSubstr(">training loss</text>"), HasSubstr(">seconds</text>")));
  EXPECT_THAT(drawn({4, 2, 1}, "bits", "test-loss"),
              AllOf(HasSubstr(">test loss</text>"), HasSubstr(">payload sent by all workers, Mbit</text>"),
                    HasSubstr(">3</text>")));
  EXPECT_THAT(drawn({4, 2, 1}), HasSubstr(">0</text>"));
  EXPECT_THAT(drawn({400, 2, 1}), Not(HasSubstr("end' fill='#374151'>0</text>"))); // a logarithmic scale has no zero
}

TEST(comparison, draws_what_is_finite) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(curves(drawn({4, nan, 2, inf, 1})), ElementsAre("64.0,56.0 380.0,208.0 696.0,284.0 "));
  for (const double loss : {0., -1., 1e-320, 1e308, 5e-324})
    for (const auto* svg : {"train-loss", "test-loss"}) {
      const auto text = drawn({loss, 1, loss / 3}, "epochs", svg);
      EXPECT_THAT(text, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")))) << loss;
    }
  EXPECT_THAT(error_of([&] {
                drawn({nan, inf});
              }),
              AllOf(HasSubstr("run has no training loss over epochs"), HasSubstr("--y")));
}

TEST(comparison, copes_with_a_single_evaluation) {
  for (const auto* y : {"train-loss", "test-loss", "accuracy"})
    for (const auto* x : {"seconds", "epochs", "bits"})
      EXPECT_EQ(curves(drawn({1}, x, y)).size(), 1u);
}

TEST(comparison, tells_many_runs_apart) {
  const std::vector runs(20, run_with("run", {2, 1}));
  const auto svg = compare(runs, "epochs", "train-loss");
  std::set<std::string> styles;
  for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at)
    styles.insert(svg.substr(at, svg.find(" points", at) - at));
  EXPECT_EQ(styles.size(), 20u);
}

TEST(comparison, escapes_labels) {
  const std::vector runs{run_with("<a & b>\x01\xff", {2, 1})};
  EXPECT_THAT(compare(runs, "epochs", "train-loss"), HasSubstr(">&lt;a &amp; b> \uFFFD</text>"));
}

TEST(comparison, suggests_quantities) {
  EXPECT_THAT(error_of([] { drawn({1}, "second"); }),
              AllOf(HasSubstr("unknown --x 'second'"), HasSubstr("did you mean 'seconds'?")));
  EXPECT_THAT(error_of([] { drawn({1}, "epochs", "loss"); }), HasSubstr("known: train-loss, test-loss, accuracy"));
}

TEST(comparison, has_the_scale_that_is_asked_for) {
  const auto compared = [](std::vector<double> losses, const char* y, bool logarithmic) {
    return curves(compare(std::vector{run_with("run", losses)}, "epochs", y, logarithmic));
  };
  EXPECT_THAT(compared({4, 2, 1}, "train-loss", true), ElementsAre("64.0,98.1 380.0,229.1 696.0,360.0 "));
  EXPECT_THAT(compared({100, 10, 1}, "train-loss", false), ElementsAre("64.0,56.0 380.0,329.6 696.0,357.0 "));
  for (const double least : {0., -1.})
    EXPECT_THAT(error_of([&] {
                  compared({1, least}, "train-loss", true);
                }),
                AllOf(HasSubstr("the training loss falls to"), HasSubstr("leave --log out")));
}

TEST(plot, draws_losses_that_fall_far_on_a_logarithmic_scale) {
  const auto training_curve = [](const std::vector<double>& losses) {
    auto run = run_with("run", losses);
    for (auto& r : run.evaluations)
      r.test_loss = r.train_loss;
    return curves(plot(run.evaluations, "title")).front();
  };
  EXPECT_EQ(training_curve({100, 10, 1}), "64.0,56.0 380.0,208.0 696.0,360.0 ");
  EXPECT_EQ(training_curve({4, 2, 1}), "64.0,56.0 380.0,208.0 696.0,284.0 ");
}

TEST(plot, has_an_accuracy_only_where_there_is_one) {
  auto run = run_with("run", {4, 2, 1});
  EXPECT_EQ(curves(plot(run.evaluations, "title")).size(), 3u);
  for (auto& r : run.evaluations)
    r.test_accuracy.reset();
  EXPECT_EQ(curves(plot(run.evaluations, "title")).size(), 2u);
  EXPECT_EQ(curves(plot({}, "nothing")).size(), 2u);
}

class run_reader : public testing::Test {
protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("gossamer-run_reader-") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string refusal() const {
    return error_of([this] { read_run(folder_); });
  }
  std::filesystem::path folder_;
};

TEST_F(run_reader, reads_what_a_run_writes) {
  auto run = run_with("", {4, std::nan(""), 1});
  run.evaluations[2].test_accuracy.reset();
  run.evaluations[2].payload_bits = std::numeric_limits<std::uint64_t>::max();
  std::string text;
  for (const auto& r : run.evaluations)
    text += to_json(r) + "\n";
  write("metrics.jsonl", text);
  run_summary summary;
  summary.algorithm = "d-psgd";
  summary.workers = 1;
  write("summary.json", to_json(summary));

  const auto read = read_run(folder_);
  EXPECT_EQ(read.label, folder_.string() + " (d-psgd, 1 worker)");
  ASSERT_EQ(read.evaluations.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(to_json(read.evaluations[i]), to_json(run.evaluations[i]));
  EXPECT_TRUE(std::isnan(read.evaluations[1].train_loss));
}

TEST_F(run_reader, reads_runs_that_are_not_finished) {
  write("metrics.jsonl", to_json(evaluation_record{}) + "\n");
  EXPECT_EQ(read_run(folder_).label, folder_.string() + " (unfinished)");
}

TEST_F(run_reader, names_the_file_and_the_line) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr("metrics.jsonl': No such file or directory"), HasSubstr("gossamer train")));
  write("metrics.jsonl", "");
  EXPECT_THAT(refusal(), HasSubstr("metrics.jsonl holds no evaluation"));
  const auto good = to_json(evaluation_record{}) + "\n";
  for (const auto& [line, problem] :
       std::vector<std::pair<std::string, std::string>>{{"", "no JSON object"},
                                                        {"{\"step\": 1", "no JSON object"},
                                                        {"[1]", "no JSON object"},
                                                        {"{}", "there is no step"},
                                                        {"{\"step\": -1}", "step is no whole number"},
                                                        {"{\"step\": 1, \"epoch\": \"2\"}", "epoch is no number"},
                                                        {std::string(100'000, '['), "no JSON object"}}) {
    write("metrics.jsonl", good + line + "\n" + good);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("metrics.jsonl:2: "), HasSubstr(problem)));
  }
  write("metrics.jsonl", good);
  for (const char* summary : {"", "{", "[]", "{}", "{\"algorithm\": 1, \"workers\": 4}", "{\"algorithm\": \"x\"}"}) {
    write("summary.json", summary);
    EXPECT_THAT(refusal(), HasSubstr("summary.json names no algorithm"));
  }
}

TEST_F(run_reader, is_not_put_off_by_folders_in_the_place_of_files) {
  std::filesystem::create_directories(folder_ / "metrics.jsonl");
  EXPECT_THAT(refusal(), HasSubstr("metrics.jsonl': Is a directory"));
  std::filesystem::remove(folder_ / "metrics.jsonl");
  write("metrics.jsonl", to_json(evaluation_record{}) + "\n");
  std::filesystem::create_directories(folder_ / "summary.json");
  EXPECT_THAT(refusal(), HasSubstr("summary.json': Is a directory"));
}

} // namespace
} // namespace gossamer::actors
