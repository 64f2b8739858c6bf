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

std::string drawn(const std::vector<double>& losses, std::string x = "epochs", std::string y = "train-loss") {
  const std::vector runs{run_with("run", losses)};
  return compare(runs, {.x = std::move(x), .y = std::move(y)});
}

TEST(comparison, maps_values_onto_pixels) {
  EXPECT_THAT(curves(drawn({4, 2, 1})), ElementsAre("64.0,56.0 380.0,208.0 696.0,284.0 "));        // from 0 to 4
  EXPECT_THAT(curves(drawn({100, 10, 1})), ElementsAre("64.0,56.0 380.0,208.0 696.0,360.0 "));     // over two decades
  EXPECT_THAT(curves(drawn({5, 0}, "epochs", "accuracy")), ElementsAre("64.0,360.0 696.0,56.0 ")); // from 0.5 to 1
}

TEST(comparison, draws_averagings_for_each_gradient_where_pairs_are_averaged) {
  auto run = run_with("run", {4, 2, 1});
  for (std::uint64_t k = 0; k < 3; ++k) {
    run.evaluations[k].step = 100 * k; // none at the first, which has no place
    run.evaluations[k].averagings = {0, 50 * k * k, 0};
  }
  EXPECT_THAT(curves(compare(std::vector{run}, {.x = "epochs", .y = "averagings"})),
              ElementsAre("380.0,208.0 696.0,56.0 ")); // 0.5 and 1
  EXPECT_THAT(error_of([] { drawn({4, 2}, "epochs", "averagings"); }), HasSubstr("run has no averagings per gradient"));
}

TEST(comparison, uses_one_scale_for_all_runs) {
  const std::vector runs{run_with("long", {4, 4, 4, 4, 4}), run_with("short", {2, 2, 2})};
  EXPECT_THAT(curves(compare(runs, {})), ElementsAre("64.0,56.0 222.0,56.0 380.0,56.0 538.0,56.0 696.0,56.0 ",
                                                     "64.0,208.0 222.0,208.0 380.0,208.0 "));
}

TEST(comparison, labels_its_axes) {
  EXPECT_THAT(drawn({4, 2, 1}, "seconds"), AllOf(HasSubstr(">training loss</text>"), HasSubstr(">time (s)</text>")));
  EXPECT_THAT(drawn({4, 2, 1}, "bits", "test-loss"),
              AllOf(HasSubstr(">test loss</text>"), HasSubstr(">payload sent by all workers (Mbit)</text>"),
                    HasSubstr(">3</text>")));
  EXPECT_THAT(drawn({4, 2, 1}, "epochs", "accuracy"),
              AllOf(HasSubstr(">epochs (passes over the training data)</text>"), HasSubstr(">test accuracy (share)<")));
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

TEST(comparison, copes_with_values_so_large_that_ticks_between_them_are_none) {
  auto run = run_with("run", {1, 2});
  for (auto& r : run.evaluations)
    r.test_accuracy = 1e17;
  EXPECT_THAT(compare(std::vector{run}, {.x = "epochs", .y = "accuracy"}), HasSubstr("1e+17"));
}

TEST(comparison, copes_with_a_single_evaluation) {
  for (const auto* y : {"train-loss", "test-loss", "accuracy"})
    for (const auto* x : {"seconds", "epochs", "bits"})
      EXPECT_EQ(curves(drawn({1}, x, y)).size(), 1u);
}

TEST(comparison, tells_many_runs_apart) {
  const std::vector runs(20, run_with("run", {2, 1}));
  const auto svg = compare(runs, {.x = "epochs"});
  std::set<std::string> styles;
  for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at)
    styles.insert(svg.substr(at, svg.find(" points", at) - at));
  EXPECT_EQ(styles.size(), 20u);
}

TEST(comparison, escapes_labels) {
  const std::vector runs{run_with("<a & b>\x01\xff", {2, 1})};
  EXPECT_THAT(compare(runs, {.x = "epochs"}), HasSubstr(">&lt;a &amp; b> \uFFFD</text>"));
}

TEST(comparison, suggests_quantities) {
  EXPECT_THAT(error_of([] { drawn({1}, "second"); }),
              AllOf(HasSubstr("unknown --x 'second'"), HasSubstr("did you mean 'seconds'?")));
  EXPECT_THAT(error_of([] { drawn({1}, "epochs", "loss"); }), HasSubstr("known: train-loss, test-loss, accuracy"));
}

TEST(comparison, has_the_scale_that_is_asked_for) {
  const auto compared = [](std::vector<double> losses, const char* y, bool logarithmic) {
    return curves(compare(std::vector{run_with("run", losses)}, {.x = "epochs", .y = y, .logarithmic = logarithmic}));
  };
  EXPECT_THAT(compared({4, 2, 1}, "train-loss", true), ElementsAre("64.0,98.1 380.0,229.1 696.0,360.0 "));
  EXPECT_THAT(compared({100, 10, 1}, "train-loss", false), ElementsAre("64.0,56.0 380.0,329.6 696.0,357.0 "));
  for (const double least : {0., -1.})
    EXPECT_THAT(error_of([&] {
                  compared({1, least}, "train-loss", true);
                }),
                AllOf(HasSubstr("the training loss falls to"), HasSubstr("leave --log out")));
}

/// Returns the pixels of the marks, and what they say.
std::vector<std::string> marks_in(const std::string& svg) {
  std::vector<std::string> result;
  for (std::size_t at = 0; (at = svg.find("<g><title>", at)) != std::string::npos;) {
    at += std::string_view{"<g><title>"}.size();
    const auto end = svg.find("</title>", at), place = svg.find("d='M", end) + 4;
    result.push_back(svg.substr(place, svg.find(',', place) - place) + " " + svg.substr(at, end - at));
  }
  return result;
}

TEST(comparison, marks_events_on_any_axis) {
  auto run = run_with("run", {4, 2, 1}); // at 0, 2 and 4 s, after 0, 1 and 2 epochs and 0, 1.5 and 3 Mbit
  run.events = {{1, event_kind::fault, "a <fault>"},
                {1.5, event_kind::note, "no mark"},
                {3, event_kind::loss, "gone"},
                {9, event_kind::leader, "behind the last evaluation"}};
  const std::vector runs{run};
  EXPECT_THAT(marks_in(compare(runs, {})),
              ElementsAre("222.0 1 s: a &lt;fault>", "538.0 3 s: gone", "696.0 9 s: behind the last evaluation"));
  for (const auto* x : {"epochs", "bits"})
    EXPECT_EQ(marks_in(compare(runs, {.x = x})), marks_in(compare(runs, {}))) << x;
  EXPECT_THAT(compare(runs, {}),
              AllOf(HasSubstr(">faults</text>"), HasSubstr(">losses</text>"), Not(HasSubstr(">arrivals</text>"))));
  EXPECT_THAT(marks_in(plot(run.evaluations, run.events, "title")), testing::SizeIs(3));
  EXPECT_THAT(marks_in(compare(std::vector{run, run_with("other", {1})}, {})).front(), HasSubstr("run, 1 s: a"));
}

/// Returns the pixels from the lowest text to the lower edge.
double room_below(const std::string& svg) {
  const auto number_behind = [&svg](std::size_t at, std::string_view what) {
    return std::stod(svg.substr(svg.find(what, at) + what.size()));
  };
  double lowest = 0;
  for (std::size_t at = 0; (at = svg.find("<text ", at)) != std::string::npos; ++at)
    lowest = std::max(lowest, number_behind(at, " y='"));
  return number_behind(0, " height='") - lowest;
}

TEST(comparison, has_room_below_its_legend_as_a_single_run_has) {
  auto run = run_with("run", {4, 2, 1});
  run.events = {{1, event_kind::fault, "a fault"}};
  EXPECT_GE(room_below(compare(std::vector{run}, {})), 12);
  EXPECT_GE(room_below(plot(run.evaluations, run.events, "title")), 12);
  EXPECT_GE(room_below(plot(run.evaluations, {}, "title")), 12);
}

TEST(comparison, marks_events_that_come_between_uneven_evaluations) {
  auto run = run_with("run", {4, 2, 1});
  run.evaluations[1].time_s = 3; // 1 epoch in 3 s, and the next in 1 s
  run.events = {{1.5, event_kind::arrival, "slow"}, {3.5, event_kind::arrival, "fast"}};
  EXPECT_THAT(marks_in(compare(std::vector{run}, {.x = "epochs"})),
              ElementsAre("222.0 1.5 s: slow", "538.0 3.5 s: fast"));
}

TEST(comparison, smooths_by_the_mean_around_each_evaluation) {
  const auto smoothed = [](std::size_t count) {
    return curves(compare(std::vector{run_with("run", {4, 1, 1, 4})}, {.x = "epochs", .smooth = count})).front();
  };
  EXPECT_EQ(smoothed(1), curves(drawn({4, 1, 1, 4})).front());
  EXPECT_EQ(smoothed(2), curves(drawn({2.5, 1, 2.5, 4})).front());
  EXPECT_EQ(smoothed(3), curves(drawn({2.5, 2, 2, 2.5})).front());
  EXPECT_EQ(smoothed(100), curves(drawn({2.5, 2.5, 2.5, 2.5})).front());
}

recorded_run repeated(const std::vector<double>& losses, std::string settings) {
  auto run = run_with("run", losses);
  run.settings_but_seed = std::move(settings);
  return run;
}

TEST(comparison, makes_a_band_of_runs_that_differ_in_the_seed) {
  auto longer = repeated({4, 3, 3, 9}, "same");
  longer.events = {{1, event_kind::fault, "within a band"}};
  const std::vector runs{repeated({2, 1, 1}, "same"), repeated({1, 1, 1}, "other"), longer,
                         repeated({3, 2, 4}, "same")};
  const auto svg = compare(runs, {.x = "epochs", .band = true});
  // The first run's curve is the median of three, as long as all are there, in a band from 2, 1, 1 to 4, 3, 4.
  EXPECT_THAT(curves(svg), ElementsAre("64.0,56.0 380.0,132.0 696.0,56.0 696.0,284.0 380.0,284.0 64.0,208.0 ",
                                       "64.0,132.0 380.0,208.0 696.0,132.0 ", "64.0,284.0 380.0,284.0 696.0,284.0 "));
  EXPECT_THAT(svg, AllOf(HasSubstr(">run: median of 3 seeds</text>"), Not(HasSubstr("within a band"))));
}

TEST(comparison, makes_a_band_of_runs_that_are_evaluated_at_different_times) {
  auto shifted = repeated({3, 1}, "same"); // at 1 and 3 s
  shifted.evaluations[0].time_s = 1;
  shifted.evaluations[1].time_s = 3;
  const auto svg = compare(std::vector{repeated({2, 2, 4}, "same"), shifted}, {.band = true}); // at 0, 2 and 4 s
  // At 1, 2 and 3 s the first has 2, 2 and 3, the second 3, 2 and 1.
  EXPECT_EQ(curves(svg).back(), "274.7,106.7 485.3,157.3 696.0,157.3 ");
}

TEST(comparison, refuses_bands_of_nothing) {
  const auto refusal = [](const std::vector<recorded_run>& runs) {
    return error_of([&] { compare(runs, {.band = true}); });
  };
  EXPECT_THAT(refusal({repeated({1}, "a"), repeated({1}, "b")}),
              AllOf(HasSubstr("differ only in the seed"), HasSubstr("--seed")));
  EXPECT_THAT(refusal({repeated({1}, "a"), run_with("bare", {1})}), HasSubstr("bare has no config.toml"));
}

TEST(plot, draws_losses_that_fall_far_on_a_logarithmic_scale) {
  const auto training_curve = [](const std::vector<double>& losses) {
    auto run = run_with("run", losses);
    for (auto& r : run.evaluations)
      r.test_loss = r.train_loss;
    return curves(plot(run.evaluations, {}, "title")).front();
  };
  EXPECT_EQ(training_curve({100, 10, 1}), "64.0,56.0 380.0,208.0 696.0,360.0 ");
  EXPECT_EQ(training_curve({4, 2, 1}), "64.0,56.0 380.0,208.0 696.0,284.0 ");
}

TEST(plot, has_an_accuracy_only_where_there_is_one) {
  auto run = run_with("run", {4, 2, 1});
  EXPECT_EQ(curves(plot(run.evaluations, {}, "title")).size(), 3u);
  for (auto& r : run.evaluations)
    r.test_accuracy.reset();
  EXPECT_EQ(curves(plot(run.evaluations, {}, "title")).size(), 2u);
  EXPECT_EQ(curves(plot({}, {}, "nothing")).size(), 2u);
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
  run.evaluations[1].averagings = {9, 8, 7};
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

TEST_F(run_reader, reads_events_and_settings_where_they_are) {
  write("metrics.jsonl", to_json(evaluation_record{}) + "\n");
  EXPECT_FALSE(read_run(folder_).settings_but_seed);
  write("config.toml", "# gossamer train --config THIS-FILE repeats the run\nlr = 1\nseed = 3\n# data 12\n");
  write("events.jsonl", to_line(progress_record{}) + "\n" + to_line(event_record{2, event_kind::leader, "x"}) + "\n"
                            + R"({"type":"event","time_s":3,"kind":"of a later version","what":"y"})" + "\n{\"torn");
  const auto run = read_run(folder_);
  EXPECT_EQ(run.settings_but_seed, "lr = 1\n");
  ASSERT_EQ(run.events.size(), 2u);
  EXPECT_EQ(to_line(run.events[0]), to_line(event_record{2, event_kind::leader, "x"}));
  EXPECT_EQ(run.events[1].kind, event_kind::note);
  write("events.jsonl", "{\"type\":\"progress\"}\n{\"type\":\"event\",\"time_s\":1,\"kind\":2}\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("events.jsonl:2: "), HasSubstr("kind is no text")));
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
