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
std::vector<float> plain_votes(const quadratics& problem, std::size_t workers, float beta, std::uint64_t local_steps) {
  std::vector<float> x(size);
  std::vector<std::vector<float>> m(workers, x);
  for (std::uint64_t t = 0; t < steps; t += local_steps) {
    std::vector<int> votes(size);
    for (std::size_t i = 0; i < workers; ++i) {
      auto y = x;
      std::vector<float> sum(size);
      for (std::uint64_t e = 0; e < local_steps; ++e) {
        const auto g = problem.gradient(i, t + e, y);
        for (std::size_t k = 0; k < size; ++k) {
          sum[k] += g[k];
          y[k] -= lr * g[k];
        }
      }
      for (std::size_t k = 0; k < size; ++k) {
        m[i][k] = beta * m[i][k] + (1 - beta) * sum[k];
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
    for (const auto& [beta, local_steps] : {std::pair{"0", 1}, {"0.9", 1}, {"0.9", 4}}) {
      quadratics problem{workers, size, 0.3f};
      const auto expected = plain_votes(problem, workers, std::stof(beta), static_cast<std::uint64_t>(local_steps));
      for (const char* way :
           {"", ",collective=torus", ",collective=star", ",coding=elias", ",coding=shorter,collective=torus"}) {
        tiny_world world{
            {.workers = workers, .steps = steps, .lr = lr},
            runs("sign-sgd:beta=" + std::string{beta} + ",local-steps=" + std::to_string(local_steps) + way,
                 problem.start()),
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
