#include "gossamer/apps/reproductions/detail/findings.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "support/scratch_folder.hpp"
#include "support/usage_error.hpp"

namespace gossamer::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

outcome ended_with(double loss) {
  outcome o;
  o.evaluations = {{.train_loss = 2}, {.time_s = 4, .train_loss = loss, .payload_bits = 100}};
  return o;
}

/// Chooses between rates. Each rate has the outcomes of its seeds.
cell chosen_of(std::vector<std::vector<outcome>> runs, std::vector<double> rates = {0.1, 0.2, 0.4}) {
  reproduction r;
  r.rates = std::move(rates);
  r.measures = {training_loss()};
  return chosen(r, {"method"}, {"setting"}, runs);
}

TEST(estimated, is_the_mean_with_half_of_students_interval) {
  const std::vector<double> values{1, 2, 3}; // deviation 1, of the mean 1 / sqrt(3); t = 4.303 with 2 degrees
  const auto e = estimated(values);
  EXPECT_DOUBLE_EQ(e.mean, 2);
  ASSERT_TRUE(e.half_width);
  EXPECT_NEAR(*e.half_width, 4.303 / std::sqrt(3), 1e-12);
}

TEST(estimated, has_no_interval_to_show_where_all_are_equal) {
  EXPECT_EQ(to_text(estimated(std::vector{0.25, 0.25, 0.25}), 4), "0.25");
  EXPECT_EQ(to_text(estimated(std::vector{1.0, 2.0, 3.0}), 4), "2 +- 2");
}

TEST(estimated, says_nothing_of_one_seed_or_of_what_diverged) {
  EXPECT_FALSE(estimated(std::vector{5.0}).half_width);
  const auto e = estimated(std::vector{1.0, std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(std::isinf(e.mean));
  EXPECT_FALSE(e.half_width);
  EXPECT_EQ(to_text(e, 4), "-");
}

TEST(measures, stand_between_two_evaluations_where_a_loss_is_reached) {
  const auto o = ended_with(1); // from 2 to 1 within 100 bits and 4 seconds
  EXPECT_DOUBLE_EQ(bits_until(1.25).of(o).value(), 75);
  EXPECT_DOUBLE_EQ(seconds_until(1.25).of(o).value(), 3);
  EXPECT_EQ(bits_until(2).of(o), 0);
  EXPECT_EQ(bits_until(0.9).of(o), std::nullopt);
}

TEST(chosen, takes_the_rate_whose_mean_over_the_seeds_is_best) {
  const auto c = chosen_of(
      {{ended_with(0.1), ended_with(0.9)}, {ended_with(0.4), ended_with(0.5)}, {ended_with(0.8), ended_with(0.7)}});
  EXPECT_EQ(c.rate, 0.2);
  EXPECT_FALSE(c.at_edge);
  EXPECT_THAT(c.values.at("training loss"), ElementsAre(0.4, 0.5));
  EXPECT_EQ(c.curve.size(), 2u);
}

TEST(chosen, says_when_the_rate_is_the_least_or_the_greatest) {
  EXPECT_TRUE(chosen_of({{ended_with(0.1)}, {ended_with(0.2)}, {ended_with(0.3)}}).at_edge);
  EXPECT_TRUE(chosen_of({{ended_with(0.3)}, {ended_with(0.2)}, {ended_with(0.1)}}).at_edge);
  EXPECT_FALSE(chosen_of({{ended_with(0.3)}}, {0.1}).at_edge);
}

TEST(chosen, never_takes_a_rate_that_diverged_with_any_seed) {
  const auto c = chosen_of({{ended_with(0.5), ended_with(0.5)}, {ended_with(0.1), outcome{}}}, {0.1, 0.2});
  EXPECT_EQ(c.rate, 0.1);
  const auto lost = chosen_of({{outcome{}}, {outcome{}}}, {0.1, 0.2});
  EXPECT_TRUE(std::isinf(lost.values.at("training loss").front()));
  EXPECT_TRUE(lost.curve.empty());
}

outcome ended_with_accuracy(double share) {
  auto o = ended_with(1);
  o.evaluations.back().test_accuracy = share;
  return o;
}

/// Chooses by the accuracy between the rates 0.1 and 0.2.
std::optional<double> rate_by_accuracy(std::vector<std::vector<outcome>> runs) {
  reproduction r;
  r.rates = {0.1, 0.2};
  r.quality = test_accuracy();
  return chosen(r, {}, {}, runs).rate;
}

TEST(chosen, counts_accuracy_upwards) {
  EXPECT_EQ(rate_by_accuracy({{ended_with_accuracy(0.6)}, {ended_with_accuracy(0.7)}}), 0.2);
  EXPECT_EQ(rate_by_accuracy({{ended_with_accuracy(0.6)}, {outcome{}}}), 0.1);
}

TEST(chosen, by_accuracy_never_takes_a_rate_that_diverged_with_any_seed_while_there_is_another) {
  const std::vector<outcome> diverged{ended_with_accuracy(0.9), outcome{}}; // 0.45 if divergence counted as 0
  EXPECT_EQ(rate_by_accuracy({{ended_with_accuracy(0.3), ended_with_accuracy(0.3)}, diverged}), 0.1);
  EXPECT_EQ(rate_by_accuracy({diverged, {ended_with_accuracy(0.3), ended_with_accuracy(0.3)}}), 0.2);
  EXPECT_EQ(rate_by_accuracy({{outcome{}, outcome{}}, diverged}), 0.2);
}

TEST(an_estimate, is_written_with_one_digit_of_its_interval) {
  EXPECT_EQ(to_text({.mean = 401.46, .half_width = 48}, 4), "401.5 +- 50");
  EXPECT_EQ(to_text({.mean = 0.04533, .half_width = 0.00031}, 4), "0.04533 +- 0.0003");
  EXPECT_EQ(to_text({.mean = 7.7891e9, .half_width = 1.9e8}, 4), "7.789e+09 +- 2e+08");
  EXPECT_EQ(to_text({.mean = 12}, 4), "12");
}

findings some_findings() {
  findings f;
  f.name = "name";
  f.version = "0.1.0";
  f.command = "gossamer reproduce name";
  f.real_s = 12.5;
  f.cells = {chosen_of({{ended_with(0.5), outcome{}}}, {0.1})};
  return f;
}

TEST(findings, are_read_back_as_they_were_written) {
  const auto f = some_findings();
  const auto again = findings_from(to_json(f));
  EXPECT_EQ(to_json(again), to_json(f));
  EXPECT_TRUE(std::isinf(again.at("method", "setting").values.at("training loss")[1]));
  EXPECT_THAT(again.at("method", "setting").diverged, ElementsAre(2));
}

TEST(findings, estimate_by_the_seeds_that_did_not_diverge) {
  findings f;
  f.cells = {cell{.method = "a", .setting = {}, .values = {{"accuracy", {90, 0, 92}}}, .diverged = {2}},
             cell{.method = "b", .setting = {}, .values = {{"accuracy", {0, 0}}}, .diverged = {1, 2}}};
  EXPECT_DOUBLE_EQ(f.estimate_of("accuracy", "a").mean, 91);
  EXPECT_NEAR(f.estimate_of("accuracy", "a").half_width.value(), 12.706, 1e-9); // of 90 and 92
  EXPECT_TRUE(std::isnan(f.estimate_of("accuracy", "b").mean));
}

TEST(findings, judge_several_seeds_by_their_interval_alone) {
  findings f;
  f.name = "name";
  f.cells = {cell{.method = "a", .setting = {}, .values = {{"loss", {1}}}},
             cell{.method = "b", .setting = {}, .values = {{"loss", {1, 2}}}}};
  EXPECT_DOUBLE_EQ(f("loss", "a").value, 1);
  try {
    f("loss", "b");
    FAIL() << "a mean";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_data);
    EXPECT_THAT(e.what(), HasSubstr("loss of b has 2 seeds"));
  }
}

/// Two methods with these losses, by seed.
findings two_methods(std::vector<double> a, std::vector<double> b) {
  findings f;
  f.cells = {cell{.method = "a", .setting = {}, .values = {{"loss", std::move(a)}}},
             cell{.method = "b", .setting = {}, .values = {{"loss", std::move(b)}}}};
  return f;
}

TEST(comparisons, are_made_seed_by_seed) {
  // Seeds differ tenfold, and a is twice b with each: the interval has no width.
  const auto f = two_methods({2, 20, 200}, {1, 10, 100});
  const auto q = quotient(f, "loss", {"a"}, {"b"});
  EXPECT_NEAR(q.value, 2, 1e-12);
  EXPECT_NEAR(q.least, 2, 1e-12);
  EXPECT_NEAR(q.most, 2, 1e-12);
  const auto d = difference(f, "loss", {"a"}, {"b"});
  EXPECT_DOUBLE_EQ(d.value, 37);
  EXPECT_NEAR(d.most - d.value, 4.303 * std::sqrt((36 * 36 + 27 * 27 + 63 * 63) / 6.0), 1e-9);
}

TEST(comparisons, have_a_geometric_mean_of_quotients) {
  const auto q = quotient(two_methods({1, 4}, {1, 1}), "loss", {"a"}, {"b"});
  EXPECT_NEAR(q.value, 2, 1e-12);
  EXPECT_NEAR(q.least * q.most, 4, 1e-9);
}

/// Method "a" exceeds "b" by these numbers, by seed, in the setting "near", and by as much and 10 more in "far".
findings two_settings(const std::vector<double>& more) {
  findings f;
  for (const auto* setting : {"near", "far"}) {
    std::vector<double> a, b(more.size(), 5);
    for (const double one : more)
      a.push_back(5 + one + (setting == std::string{"far"} ? 10 : 0));
    f.cells.push_back(cell{.method = "a", .setting = setting, .values = {{"loss", std::move(a)}}});
    f.cells.push_back(cell{.method = "b", .setting = setting, .values = {{"loss", std::move(b)}}});
  }
  return f;
}

TEST(comparisons, take_all_settings_together) {
  const std::vector<std::string> both{"near", "far"};
  const auto d = difference(two_settings({1, 2, 3}), "loss", "a", "b", both);
  EXPECT_DOUBLE_EQ(d.value, 7);
  EXPECT_NEAR(d.most, 7 + 4.303 / std::sqrt(3), 1e-9); // of 6, 7 and 8: settings that differ are no noise
  EXPECT_NEAR(d.least, 7 - 4.303 / std::sqrt(3), 1e-9);
  EXPECT_EQ(d.name, "loss of a less b (mean of 2 settings)");
}

TEST(comparisons, count_a_seed_once_however_many_settings_there_are) {
  const std::vector<std::string> both{"near", "far"};
  const auto d = difference(two_settings({1}), "loss", "a", "b", both);
  EXPECT_DOUBLE_EQ(d.value, 6);
  EXPECT_DOUBLE_EQ(d.least, d.most); // one seed has no interval
}

TEST(comparisons, take_pairs_of_any_places) {
  const auto f = two_settings({1, 2, 3});
  const std::vector<std::pair<place, place>> pairs{{{"a", "near"}, {"b", "near"}}, {{"a", "near"}, {"a", "far"}}};
  const auto d = difference(f, "loss", pairs, "a less others");
  EXPECT_DOUBLE_EQ(d.value, -4); // of 2 and -10
  EXPECT_NEAR(d.most, -4 + 0.5 * 4.303 / std::sqrt(3), 1e-9);
  EXPECT_EQ(d.name, "a less others");
}

TEST(comparisons, know_what_diverged) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto f = two_methods({inf, inf}, {1, 1});
  EXPECT_FALSE(surely_at_most(quotient(f, "loss", {"a"}, {"b"}), 1e9).holds);
  EXPECT_TRUE(surely_at_least(quotient(f, "loss", {"a"}, {"b"}), 1e9).holds);
  const auto neither = quotient(two_methods({inf}, {inf}), "loss", {"a"}, {"b"});
  EXPECT_FALSE(surely_at_most(neither, 1).holds);
  EXPECT_FALSE(surely_at_least(neither, 1).holds);
  EXPECT_EQ(surely_at_least(neither, 1).evidence, "loss of a over b: neither is finite");
}

TEST(comparisons, decide_nothing_where_some_seeds_diverged) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto other = quotient(two_methods({3, 3, 3}, {1, inf, 1}), "loss", {"a"}, {"b"});
  EXPECT_FALSE(surely_at_most(other, 1).holds); // two of three seeds have the opposite
  EXPECT_FALSE(surely_at_least(other, 1).holds);
  const auto own = quotient(two_methods({1, inf, 1}, {3, 3, 3}), "loss", {"a"}, {"b"});
  EXPECT_FALSE(surely_at_most(own, 1).holds);
  EXPECT_FALSE(surely_at_least(own, 1).holds);
}

TEST(findings, name_what_they_have_not) {
  const auto f = some_findings();
  EXPECT_THROW(f.at("other", "setting"), error);
  try {
    f("test accuracy, %", "method", "setting");
    FAIL() << "found";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("test accuracy, %"));
    EXPECT_EQ(e.code(), errc::bad_data);
  }
}

TEST(findings, refuse_a_file_that_is_damaged) {
  const test::scratch_folder folder;
  for (const char* text : {"", "{", "[]", "{\"name\": 3}", "{\"name\": \"x\", \"cells\": []}"}) {
    const auto file = folder.write("x.json", text);
    try {
      read_findings(file);
      FAIL() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_data) << text;
      EXPECT_THAT(e.what(), HasSubstr(file));
    }
  }
  EXPECT_THROW(read_findings(folder.path() + "/none.json"), error);
}

} // namespace
} // namespace gossamer::apps
