#include <gtest/gtest.h>

#include "sign_algorithms.hpp"

namespace gossamer::actors {
namespace {

using testing_support::expect_telescoping;
using testing_support::final_gap;
using testing_support::quadratics;
using testing_support::read_fields;
using testing_support::recorded;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 650;

const std::string spellings[] = {"marsit:period=0", "marsit:period=7",         "marsit:period=7,global-rate=0.01",
                                 "marsit:period=1", "marsit:collective=torus", "marsit:period=0,collective=torus"};

TEST(marsit, moves_by_the_mean_gradient_once_compensations_are_counted) {
  constexpr double lr = 0.05;
  for (const auto& algorithm : spellings)
    for (const std::size_t workers : {1u, 3u, 6u}) {
      quadratics problem{workers, size, 0.3f};
      recorded sgd{problem, size, workers, lr};
      tiny_world world{{.workers = workers, .steps = 60, .lr = lr}, runs(algorithm, problem.start()), sgd.gradients()};
      ASSERT_TRUE(world.run());
      for (rank i = 1; i < workers; ++i)
        ASSERT_EQ(world.model(i), world.model(0));
      expect_telescoping(world, sgd, workers, size, algorithm);
    }
}

TEST(marsit, of_period_one_is_all_reduce_sgd_bit_for_bit) {
  for (const char* way : {"ring", "torus"}) {
    constexpr std::size_t workers = 8;
    quadratics problem{workers, size, 0.3f};
    const tiny_world::options o{.workers = workers, .steps = 60, .lr = 0.125}; // powers of 2 commute with rounding
    tiny_world full{o, runs(std::string{"marsit:period=1,collective="} + way, problem.start()), problem.gradients()};
    tiny_world sgd{o, runs(std::string{"all-reduce-sgd:collective="} + way, problem.start()), problem.gradients()};
    ASSERT_TRUE(full.run() && sgd.run());
    for (rank i = 0; i < workers; ++i)
      EXPECT_EQ(full.model(i), sgd.model(i)) << way;
  }
}

TEST(marsit, sends_one_bit_an_element_and_hop_and_31_more_in_full_rounds) {
  constexpr std::size_t workers = 8;
  constexpr std::uint64_t steps = 20;
  quadratics problem{workers, size, 0.3f};
  const auto bits = [&](const std::string& algorithm) {
    tiny_world world{{.workers = workers, .steps = steps}, runs(algorithm, problem.start()), problem.gradients()};
    EXPECT_TRUE(world.run());
    std::uint64_t sum = 0;
    for (rank i = 0; i < workers; ++i)
      sum += world.sent(i).payload_bits;
    return sum;
  };
  constexpr std::uint64_t hops = 2 * (workers - 1);
  for (const std::string way : {",collective=ring", ",collective=torus"}) {
    for (const std::uint64_t period : {1u, 2u, 5u, 10u})
      EXPECT_EQ(bits("marsit:period=" + std::to_string(period) + way) * period, (period + 31) * hops * size * steps);
    EXPECT_EQ(bits("marsit:period=0,global-rate=0.1" + way), hops * size * steps);
    EXPECT_EQ(bits("marsit:period=0" + way), hops * size * steps + 32 * hops); // one scalar, once
  }
}

TEST(marsit, takes_twice_the_usual_size_of_a_step_where_none_is_given) {
  constexpr std::size_t workers = 4;
  constexpr double lr = 0.1;
  quadratics problem{workers, size, 0.3f};
  vec mean = 0.0f * problem.start();
  double squares = 0;
  for (rank i = 0; i < workers; ++i) {
    const auto g = problem.gradients()(i, 0, problem.start());
    mean += 1.0f / workers * g;
    squares += sum_of_squares(g.view()) / workers / size;
  }
  const auto rate_of = [&](const std::string& algorithm) {
    tiny_world world{{.workers = workers, .steps = 2, .lr = lr}, runs(algorithm, problem.start()), problem.gradients()};
    EXPECT_TRUE(world.run());
    double measured = 0;
    read_fields(world, 3, [&](archive& a) {
      vec x, c;
      std::uint64_t t;
      a(x)(c)(t)(measured);
    });
    return measured;
  };
  EXPECT_NEAR(rate_of("marsit:period=5"), 2 * std::sqrt(sum_of_squares(mean.view()) / size), 1e-4);
  EXPECT_NEAR(rate_of("marsit:period=0"), 2 * std::sqrt(squares), 1e-4);
}

const tiny_world::options long_run{.workers = 8, .steps = 500, .lr = 0.05};
constexpr double start = 2; // the gap before the first step, about; all-reduce SGD ends at 0.01

TEST(marsit, comes_near_the_minimum_when_full_rounds_are_frequent_enough) {
  for (const char* algorithm :
       {"marsit:period=7", "marsit:period=7,global-rate=0.02", "marsit:period=7,collective=torus"})
    EXPECT_LT(final_gap(algorithm, long_run, 0.3f), 0.05 * start) << algorithm;
}

/// The final gap when all workers have the same data, or each its own.
double gap_of(const std::string& algorithm, bool same_data) {
  constexpr std::size_t small = 60;
  quadratics problem{same_data ? 1 : long_run.workers, small};
  const auto gradient = [&](rank i, std::uint64_t t, const vec& x) {
    vec g = problem.gradients()(same_data ? 0 : i, t, x);
    random_sequence noise{{9, i, purpose::data}, t};
    for (auto& value : g.mutate())
      value += 0.3f * static_cast<float>(noise.normal());
    return g;
  };
  tiny_world world{long_run, runs(algorithm, problem.start()), gradient};
  EXPECT_TRUE(world.run());
  const auto x = world.model(0).view();
  return problem.gap({x.begin(), x.end()});
}

// c_i - c_j is the sum of all that their directions have differed by since the last full round.
TEST(marsit, without_full_rounds_needs_workers_with_like_data) {
  EXPECT_LT(gap_of("marsit:period=0", true), 0.25 * start);
  EXPECT_GT(gap_of("marsit:period=0", false), start); // worse than not to begin
  EXPECT_LT(gap_of("marsit:period=25", false), 0.25 * start);
}

} // namespace
} // namespace gossamer::actors
