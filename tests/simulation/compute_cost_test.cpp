#include "gossamer/actors/simulation/compute_cost.hpp"

#include <gmock/gmock.h>

#include "expect.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::expect_moments;
using testing_support::refusal;
using namespace std::chrono_literals;

compute_settings settings(std::string jitter) {
  return {.seconds_per_sample = 1e-3, .batch = 32, .slow = {{2, 5}}, .jitter = std::move(jitter)};
}

TEST(compute_cost, is_the_product_of_its_factors) {
  const compute_cost cost{settings("none"), 1};
  EXPECT_EQ(cost.of(0, 0), 32ms);
  EXPECT_EQ(cost.of(0, 1), 32ms);
  EXPECT_EQ(cost.of(2, 0), 160ms);
  EXPECT_EQ(cost.of(2, 0, 0.5), 80ms);
  EXPECT_EQ(cost.of(1, 7, 0), 0ms);
  EXPECT_EQ((compute_cost{{.seconds_per_sample = 0}, 1}.of(0, 0)), 0ms);
}

TEST(compute_cost, ends_with_time_itself) {
  EXPECT_EQ((compute_cost{{.seconds_per_sample = 1e300, .batch = 100}, 1}.of(0, 0, 1e300)), end_of_time);
}

TEST(compute_cost, depends_on_seed_worker_and_step_alone) {
  const compute_cost a{settings("lognormal"), 1}, b{settings("lognormal"), 1}, other{settings("lognormal"), 2};
  const auto later_step = b.of(0, 9); // drawn in another order
  for (std::uint64_t step = 0; step < 10; ++step)
    EXPECT_EQ(a.of(0, step), b.of(0, step));
  EXPECT_EQ(a.of(0, 9), later_step);
  EXPECT_NE(a.of(0, 0), a.of(0, 1));
  EXPECT_NE(a.of(0, 0), a.of(1, 0));
  EXPECT_NE(a.of(0, 0), other.of(0, 0));
}

TEST(compute_cost, says_what_is_wrong) {
  EXPECT_THAT(refusal([] { compute_cost({.seconds_per_sample = -1}, 1); }), HasSubstr("cannot take -1 seconds"));
  EXPECT_THAT(refusal([] { compute_cost({.seconds_per_sample = NAN}, 1); }), HasSubstr("cannot take nan seconds"));
  EXPECT_THAT(refusal([] {
                compute_cost({.slow = {{3, 0}}}, 1);
              }),
              HasSubstr("worker 3 cannot be 0 times slower; allowed: a number above 0"));
  EXPECT_THAT(refusal([] { compute_cost({.slow = {{3, INFINITY}}}, 1); }), HasSubstr("inf times slower"));
  EXPECT_THAT(refusal([] { compute_cost({.jitter = "lognorm"}, 1); }), HasSubstr("did you mean 'lognormal'?"));
  EXPECT_THAT(refusal([] { compute_cost({.jitter = "uniform:width=1.5"}, 1); }),
              HasSubstr("width of jitter 'uniform' is 1.5, which is out of range; allowed: number in [0, 1]"));
}

/// Returns the factor as virtual time shows it, where 1 is a second.
auto factor(std::string jitter) {
  return [cost = std::make_shared<compute_cost>(compute_settings{.seconds_per_sample = 1, .jitter = std::move(jitter)},
                                                3)](std::uint64_t step) { return to_seconds(cost->of(4, step)); };
}

TEST(compute_jitter, has_the_moments_of_its_distribution) {
  expect_moments(factor("none"), 1, 0, 0);
  expect_moments(factor("uniform:width=0.3"), 1, 0.3 * 0.3 / 3, std::pow(0.3, 4) / 5);
  expect_moments(factor("exponential:share=0.1"), 1, 0.01, 9e-4);
  expect_moments(factor("exponential:share=1"), 1, 1, 9);
  // The lognormal's central moments, w = exp(sigma^2): variance w - 1, fourth (w - 1)^2 (w^4 + 2 w^3 + 3 w^2 - 3).
  const double w = std::exp(0.04);
  expect_moments(factor("lognormal:sigma=0.2"), 1, w - 1,
                 (w - 1) * (w - 1) * (w * w * w * w + 2 * w * w * w + 3 * w * w - 3));
  expect_moments(factor("pareto:shape=3"), 1, 1.0 / 3, -1); // variance 1 / (a (a - 2))
}

/// Expects the share of draws above a level that the distribution's tail has.
void expect_tail(const std::string& jitter, double level, double share) {
  constexpr int count = 100'000;
  const auto draw = factor(jitter);
  int above = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    above += draw(i) > level;
  EXPECT_NEAR(above, count * share, 4.5 * std::sqrt(count * share * (1 - share))) << jitter << " above " << level;
}

TEST(compute_jitter, has_the_tail_of_its_distribution) {
  expect_tail("uniform:width=0.5", 1.25, 0.25);
  expect_tail("lognormal:sigma=0.5", std::exp(0.5 * 2 - 0.125), 0.02275); // two standard deviations
  expect_tail("exponential:share=0.5", 2, std::exp(-3.0));
  expect_tail("pareto:shape=2", 5, 0.01); // (x_min / x)^2, x_min = 1/2
}

TEST(compute_jitter, is_never_negative) {
  for (const char* jitter : {"none", "uniform:width=1", "lognormal:sigma=3", "exponential:share=1", "pareto:shape=1.1"})
    for (const auto draw = factor(jitter); std::uint64_t i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u})
      EXPECT_GE(draw(i), 0) << jitter;
}

TEST(compute_jitters, work_by_default_and_describe_themselves) {
  for (const auto& entry : compute_jitters()) {
    EXPECT_FALSE(entry.about.summary.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.maths.empty()) << entry.about.name;
    EXPECT_GT(factor(entry.about.name)(0), 0) << entry.about.name;
  }
}

} // namespace
} // namespace gossamer::actors
