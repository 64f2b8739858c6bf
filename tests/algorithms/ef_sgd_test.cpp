#include <gtest/gtest.h>

#include "dense_cser.hpp"
#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::dense_cser;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 33, workers = 5;
constexpr std::uint64_t steps = 48;
constexpr std::array codecs_of_all_kinds{"grbs:ratio=4", "top-k:k=5", "random-k:k=5,scale=none",
                                         "scaled-sign",  "qsgd",      "identity"};

tiny_world run(const std::string& algorithm, const char* codec, quadratics& problem) {
  return {{.topology = "ring",
           .codec = codec,
           .optimiser = "nesterov:beta=0.9",
           .workers = workers,
           .steps = steps,
           .lr = 0.02},
          runs(algorithm, problem.start()),
          problem.gradients()};
}

dense_cser dense(const quadratics& problem) {
  return {workers, size, 0.02, 0.9, [&](std::size_t i, std::uint64_t t, const std::vector<double>& x) {
            const auto g = problem.gradient(i, t, std::vector<float>(x.begin(), x.end()));
            return std::vector<double>(g.begin(), g.end());
          }};
}

void expect_equal(const tiny_world& world, const dense_cser& reference, const std::string& what) {
  for (rank i = 0; i < workers; ++i)
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(world.model(i)[k], reference.x[i][k], 1e-4) << what << ", worker " << i << ", element " << k;
}

TEST(qsparse_local_sgd, does_what_plain_loops_do_whatever_the_codec) {
  for (const char* codec : codecs_of_all_kinds)
    for (const std::uint64_t period : {1u, 3u, 8u}) {
      quadratics problem{workers, size, 0.3f};
      const auto spec = "qsparse-local-sgd:period=" + std::to_string(period);
      auto world = run(spec, codec, problem);
      ASSERT_TRUE(world.run());
      auto reference = dense(problem);
      for (std::uint64_t t = 0; t < steps; ++t)
        reference.qsparse(t, dense_cser::make(codec), period);
      ASSERT_NO_FATAL_FAILURE(expect_equal(world, reference, spec + " with " + codec));
    }
}

TEST(qsparse_local_sgd, of_period_1_is_ef_sgd) {
  for (const char* codec : codecs_of_all_kinds) {
    quadratics problem{workers, size, 0.3f};
    auto one = run("qsparse-local-sgd:period=1", codec, problem), other = run("ef-sgd", codec, problem);
    ASSERT_TRUE(one.run() && other.run());
    for (rank i = 0; i < workers; ++i)
      EXPECT_EQ(one.model(i), other.model(i)) << codec;
  }
}

TEST(local_sgd, does_what_plain_loops_do) {
  for (const std::uint64_t period : {1u, 4u, 50u}) {
    quadratics problem{workers, size, 0.3f};
    auto world = run("local-sgd:period=" + std::to_string(period), "identity", problem);
    ASSERT_TRUE(world.run());
    auto reference = dense(problem);
    for (std::uint64_t t = 0; t < steps; ++t)
      reference.local_sgd(t, period);
    ASSERT_NO_FATAL_FAILURE(expect_equal(world, reference, std::to_string(period)));
  }
}

TEST(local_sgd, is_qsparse_local_sgd_with_an_exact_codec) {
  quadratics problem{workers, size, 0.3f};
  auto one = run("local-sgd:period=4", "identity", problem), other = run("qsparse-local-sgd", "identity", problem);
  ASSERT_TRUE(one.run() && other.run());
  for (rank i = 0; i < workers; ++i)
    EXPECT_LT(squared_distance(one.model(i).view(), other.model(i).view()), 1e-8);
}

/// Returns x, x_i and e_i from a worker's state.
std::array<vec, 3> fields_of(tiny_world& world, rank i) {
  std::array<vec, 3> f;
  const auto bytes = world.worker(i).state();
  archive_reader reader{bytes, buffer_pool{}};
  reader(f[0])(f[1])(f[2]);
  return f;
}

// x_t + mean(e_t) = x_0 + the mean of all moves of the workers. Here e has the sign of a step.
TEST(error_feedback, telescopes_in_every_step) {
  for (const char* codec : codecs_of_all_kinds)
    for (const std::uint64_t period : {1u, 3u})
      for (std::uint64_t until = 1; until <= 13; ++until) {
        quadratics problem{workers, size, 0.3f};
        std::vector<double> applied(size), telescoped(size);
        tiny_world world{{.topology = "ring", .codec = codec, .workers = workers, .steps = until, .lr = 0.02},
                         runs("qsparse-local-sgd:period=" + std::to_string(period), problem.start()),
                         [&, g = problem.gradients()](rank i, std::uint64_t t, const vec& x) {
                           auto gradient = g(i, t, x);
                           for (std::size_t k = 0; k < size; ++k)
                             applied[k] -= 0.02 * static_cast<double>(gradient[k]);
                           return gradient;
                         }};
        ASSERT_TRUE(world.run());
        for (rank i = 0; i < workers; ++i) {
          const auto [common, own, error] = fields_of(world, i);
          ASSERT_EQ(common, fields_of(world, 0)[0]) << codec;
          for (std::size_t k = 0; k < size; ++k)
            telescoped[k] += static_cast<double>(common[k]) + static_cast<double>(error[k]);
        }
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(telescoped[k], applied[k], 1e-5 * (1 + std::abs(applied[k]))) << codec << " step " << until;
      }
}

} // namespace
} // namespace gossamer::actors
