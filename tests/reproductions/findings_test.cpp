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

TEST(chosen, counts_accuracy_upwards) {
  reproduction r;
  r.rates = {0.1, 0.2};
  r.quality = test_accuracy();
  const auto with_accuracy = [](double share) {
    auto o = ended_with(1);
    o.evaluations.back().test_accuracy = share;
    return o;
  };
  const std::vector<std::vector<outcome>> runs{{with_accuracy(0.6)}, {outcome{}}};
  EXPECT_EQ(chosen(r, {}, {}, runs).rate, 0.1);
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

TEST(comparisons, take_all_settings_together) {
  findings f;
  for (const auto* setting : {"near", "far"}) {
    const double more = setting == std::string{"near"} ? 1 : 3;
    f.cells.push_back(cell{.method = "a", .setting = setting, .values = {{"loss", {5 + more}}}});
    f.cells.push_back(cell{.method = "b", .setting = setting, .values = {{"loss", {5}}}});
  }
  const std::vector<std::string> both{"near", "far"};
  const auto d = difference(f, "loss", "a", "b", both);
  EXPECT_DOUBLE_EQ(d.value, 2);
  EXPECT_NEAR(d.most, 2 + 12.706, 1e-9); // 1 and 3
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
