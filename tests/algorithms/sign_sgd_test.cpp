#include <gtest/gtest.h>

#include "sign_algorithms.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 150;
constexpr std::uint64_t steps = 40;
constexpr float lr = 0.1f;

/// Runs all workers at once, in plain loops. Returns the model.
std::vector<float> plain_votes(const quadratics& problem, std::size_t workers, float beta) {
  std::vector<float> x(size);
  std::vector<std::vector<float>> m(workers, x);
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<int> votes(size);
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = problem.gradient(i, t, x);
      for (std::size_t k = 0; k < size; ++k) {
        m[i][k] = beta * m[i][k] + (1 - beta) * g[k];
        votes[k] += m[i][k] >= 0 ? 1 : -1;
      }
    }
    for (std::size_t k = 0; k < size; ++k)
      x[k] -= votes[k] >= 0 ? lr : -lr;
  }
  return x;
}

TEST(sign_sgd, does_what_plain_loops_do_on_every_route_in_every_code) {
  for (const std::size_t workers : {1u, 2u, 5u, 8u})
    for (const char* beta : {"0", "0.9"}) {
      quadratics problem{workers, size, 0.3f};
      const auto expected = plain_votes(problem, workers, std::stof(beta));
      for (const char* way : {"", ",collective=torus", ",coding=elias", ",coding=shorter,collective=torus"}) {
        tiny_world world{{.workers = workers, .steps = steps, .lr = lr},
                         runs("sign-sgd:beta=" + std::string{beta} + way, problem.start()),
                         problem.gradients()};
        ASSERT_TRUE(world.run());
        for (rank i = 0; i < workers; ++i)
          for (std::size_t k = 0; k < size; ++k)
            ASSERT_EQ(world.model(i)[k], expected[k]) << workers << " workers, " << beta << way << ", element " << k;
      }
    }
}

TEST(sign_sgd, counts_a_tie_as_plus) {
  buffer_pool pool;
  tiny_world world{
      {.workers = 2, .steps = 1, .lr = lr}, runs("sign-sgd", vec{pool, size}), [](rank i, std::uint64_t, const vec& x) {
        vec g = x;
        for (auto& value : g.mutate())
          value = i == 0 ? 1.0f : -1.0f;
        return g;
      }};
  ASSERT_TRUE(world.run());
  for (std::size_t k = 0; k < size; ++k)
    EXPECT_EQ(world.model(1)[k], -lr);
}

} // namespace
} // namespace gossamer::actors
