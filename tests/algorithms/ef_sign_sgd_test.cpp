#include <gtest/gtest.h>

#include "sign_algorithms.hpp"

namespace gossamer::actors {
namespace {

using testing_support::expect_telescoping;
using testing_support::final_gap;
using testing_support::quadratics;
using testing_support::recorded;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 150;
constexpr double lr = 0.05;

const std::string spellings[] = {"ef-sign-sgd", "ef-sign-sgd:scale=common", "ef-sign-sgd:scale=common,coding=shorter",
                                 "ef-sign-sgd:scale=common,collective=torus"};

TEST(ef_sign_sgd, loses_nothing_for_good) {
  for (const auto& algorithm : spellings)
    for (const std::size_t workers : {1u, 3u, 6u}) {
      quadratics problem{workers, size, 0.3f};
      recorded sgd{problem, size, workers, lr};
      tiny_world world{{.workers = workers, .steps = 100, .lr = lr}, runs(algorithm, problem.start()), sgd.gradients()};
      ASSERT_TRUE(world.run());
      for (rank i = 1; i < workers; ++i)
        ASSERT_EQ(world.model(i), world.model(0));
      expect_telescoping(world, sgd, workers, size, algorithm);
    }
}

/// Runs all workers at once, in plain loops.
/// @returns the model
std::vector<double> plain_loops(const quadratics& problem, std::size_t workers, std::uint64_t steps, bool common) {
  std::vector<double> x(size);
  std::vector<std::vector<double>> e(workers, x);
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<float> at(x.begin(), x.end());
    std::vector<double> scales;
    auto p = e;
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = problem.gradient(i, t, at);
      double norm = 0;
      for (std::size_t k = 0; k < size; ++k)
        norm += std::abs(p[i][k] += lr * static_cast<double>(g[k]));
      scales.push_back(norm / static_cast<double>(size));
    }
    double mean = 0;
    for (const auto s : scales)
      mean += s / static_cast<double>(workers);
    for (std::size_t i = 0; i < workers; ++i)
      for (std::size_t k = 0; k < size; ++k) {
        const double q = (common ? mean : scales[i]) * (p[i][k] >= 0 ? 1 : -1);
        x[k] -= q / static_cast<double>(workers);
        e[i][k] = p[i][k] - q;
      }
  }
  return x;
}

TEST(ef_sign_sgd, does_what_plain_loops_do) {
  constexpr std::size_t workers = 5;
  constexpr std::uint64_t steps = 10; // few enough that rounding does not turn a sign
  quadratics problem{workers, size, 0.3f};
  for (const auto& algorithm : spellings) {
    tiny_world world{
        {.workers = workers, .steps = steps, .lr = lr}, runs(algorithm, problem.start()), problem.gradients()};
    ASSERT_TRUE(world.run());
    const auto expected = plain_loops(problem, workers, steps, algorithm != "ef-sign-sgd");
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(static_cast<double>(world.model(0)[k]), expected[k], 1e-5) << algorithm << ", element " << k;
  }
}

TEST(ef_sign_sgd, sends_what_it_promises) {
  constexpr std::size_t workers = 5;
  quadratics problem{workers, size, 0.3f};
  tiny_world world{
      {.workers = workers, .steps = 10, .lr = lr}, runs("ef-sign-sgd", problem.start()), problem.gradients()};
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < workers; ++i)
    EXPECT_EQ(world.sent(i).payload_bits, 10 * (workers - 1) * (size + 32));
}

TEST(ef_sign_sgd, ends_near_sgd) {
  const tiny_world::options o{.workers = 8, .steps = 500, .lr = 0.05};
  const double sgd = final_gap("all-reduce-sgd", o, 0.3f);
  for (const auto& algorithm : spellings)
    EXPECT_LT(final_gap(algorithm, o, 0.3f), 3 * sgd + 0.01) << algorithm;
}

} // namespace
} // namespace gossamer::actors
