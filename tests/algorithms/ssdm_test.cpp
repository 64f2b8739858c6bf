// SSDM, and its failure when it is compressed at every hop.
#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include "sign_algorithms.hpp"

namespace gossamer::actors {
namespace {

using testing_support::final_gap;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 150;
constexpr std::uint64_t steps = 40;
constexpr float lr = 0.1f;

/// Runs all workers at once, in plain loops. Returns the model.
std::vector<float> plain_loops(const quadratics& problem, std::size_t workers, bool keep_norm,
                               const std::string& bucket) {
  constexpr float beta = 0.9f;
  buffer_pool pool;
  const auto codec =
      compress::make_codec((keep_norm ? "ssdm:norm=sent,bucket=" : "ssdm:norm=dropped,bucket=") + bucket);
  std::vector<float> x(size);
  std::vector<std::vector<float>> m(workers, x);
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<float> sum(size);
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = problem.gradient(i, t, x);
      for (std::size_t k = 0; k < size; ++k) {
        m[i][k] = t == 0 ? g[k] : beta * m[i][k] + (1 - beta) * g[k];
      }
      const random_stream draws{1, static_cast<std::uint32_t>(i), purpose::quantise};
      const auto signs = compress::decode(codec->encode(vec{pool, m[i]}, draws, t));
      for (std::size_t k = 0; k < size; ++k)
        sum[k] += signs[k];
    }
    const float share = 1 / static_cast<float>(workers);
    for (std::size_t k = 0; k < size; ++k)
      x[k] -= keep_norm ? lr * (share * sum[k]) : lr / static_cast<float>(workers) * sum[k];
  }
  return x;
}

TEST(ssdm, does_what_plain_loops_do) {
  for (const std::size_t workers : {1u, 2u, 5u, 8u})
    for (const auto& [keep_norm, bucket] : {std::pair{false, "0"}, {true, "0"}, {false, "16"}, {true, "16"}}) {
      quadratics problem{workers, size, 0.3f};
      const auto expected = plain_loops(problem, workers, keep_norm, bucket);
      for (const std::string way : {"", ",collective=torus", ",collective=star", ",coding=elias"}) {
        tiny_world world{
            {.workers = workers, .steps = steps, .lr = lr},
            runs(std::string{"ssdm:keep-norm="} + (keep_norm ? "true" : "false") + ",norm-bucket=" + bucket + way,
                 problem.start()),
            problem.gradients()};
        ASSERT_TRUE(world.run());
        for (rank i = 0; i < workers; ++i)
          for (std::size_t k = 0; k < size; ++k)
            ASSERT_EQ(world.model(i)[k], expected[k]) << workers << " workers" << way << ", element " << k;
      }
    }
}

TEST(ssdm, sends_signs_to_a_server_and_sums_of_signs_back) {
  constexpr std::size_t workers = 8;
  quadratics problem{workers, size, 0.3f};
  tiny_world world{
      {.workers = workers, .steps = steps}, runs("ssdm:collective=star", problem.start()), problem.gradients()};
  ASSERT_TRUE(world.run());
  constexpr std::uint64_t bits_of_a_sum = 4; // ceil(log2(8 + 1))
  EXPECT_EQ(world.sent(0).payload_bits, (workers - 1) * bits_of_a_sum * size * steps);
  for (rank i = 1; i < workers; ++i)
    EXPECT_EQ(world.sent(i).payload_bits, size * steps);
}

TEST(ssdm, without_any_gradient_walks_at_random) {
  buffer_pool pool;
  tiny_world world{{.workers = 3, .steps = 100, .lr = 1},
                   runs("ssdm", vec{pool, size}),
                   [](rank, std::uint64_t, const vec& x) { return 0.0f * x; }};
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.model(1), world.model(0));
  double sum = 0; // a sum of 100 * 3 * size fair coins, each +-1/3
  for (const float value : world.model(0).view())
    sum += static_cast<double>(value);
  EXPECT_LT(std::abs(sum), 4.5 * std::sqrt(300.0 * size) / 3);
  EXPECT_GT(sum_of_squares(world.model(0).view()), 0.5 * size * 100 / 3);
}

/// Returns all packets of a run whose gradients do not depend on x.
std::vector<packet> sent(const char* algorithm, const char* schedule) {
  constexpr std::size_t workers = 3;
  quadratics problem{workers, size, 0.3f};
  const vec start = problem.start();
  std::vector<packet> frames;
  tiny_world world{{.workers = workers,
                    .steps = 20,
                    .schedule = schedule,
                    .on_send = [&](rank, const frame& f) { frames.push_back(f.body); }},
                   runs(algorithm, start),
                   [&](rank i, std::uint64_t t, const vec&) { return problem.gradients()(i, t, start); }};
  EXPECT_TRUE(world.run());
  return frames;
}

TEST(sign_algorithms, send_signs_that_do_not_depend_on_the_schedule) {
  for (const char* algorithm : {"ssdm", "ssdm:keep-norm=true", "cascading-ssdm", "sign-sgd", "sign-sgd:beta=0.9"}) {
    const auto constant = sent(algorithm, "constant");
    ASSERT_FALSE(constant.empty());
    for (const char* schedule : {"steps:at=9+30,factor=0.01", "cosine:warmup=20"}) {
      const auto other = sent(algorithm, schedule);
      ASSERT_EQ(other.size(), constant.size());
      for (std::size_t k = 0; k < other.size(); ++k)
        ASSERT_TRUE(std::ranges::equal(other[k].payload.bytes(), constant[k].payload.bytes()))
            << algorithm << ", " << schedule << ", frame " << k;
    }
  }
}

/// Returns E |x_1 - xbar_1|^2 / |xbar_1|^2 after one step of rate 1 along fixed gradients that lie near each other.
double deviation(std::size_t workers, const char* algorithm) {
  constexpr std::size_t dimension = 120;
  constexpr std::uint64_t seeds = 60;
  buffer_pool pool;
  std::vector<vec> gradients(workers, vec{pool, dimension});
  vec mean{pool, dimension};
  for (std::size_t i = 0; i < workers; ++i) {
    random_sequence common{{9, 99, purpose::synthetic}, 0}, own{{9, static_cast<std::uint32_t>(i), purpose::data}, 0};
    for (auto& value : gradients[i].mutate())
      value = static_cast<float>(common.normal() + 0.5 * own.normal());
    mean += 1.0f / static_cast<float>(workers) * gradients[i];
  }
  double total = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    tiny_world world{{.workers = workers, .steps = 1, .lr = 1, .seed = seed},
                     runs(algorithm, vec{pool, dimension}),
                     [&](rank i, std::uint64_t, const vec&) { return gradients[i]; }};
    EXPECT_TRUE(world.run());
    for (rank i = 1; i < workers; ++i)
      EXPECT_EQ(world.model(i), world.model(0));
    total += sum_of_squares((world.model(0) + mean).view());
  }
  return total / seeds / sum_of_squares(mean.view());
}

TEST(cascading_ssdm, errs_more_the_more_hops_there_are) {
  const double three = deviation(3, "cascading-ssdm:norm-bucket=0"),
               eight = deviation(8, "cascading-ssdm:norm-bucket=0");
  EXPECT_GT(eight, 10 * three);
  const double gathered_three = deviation(3, "ssdm:keep-norm=true"),
               gathered_eight = deviation(8, "ssdm:keep-norm=true");
  EXPECT_LT(gathered_eight, gathered_three); // more workers, less noise
  EXPECT_GT(three, 10 * gathered_three);
}

TEST(cascading_ssdm, trains_poorly_with_three_workers_and_diverges_with_eight) {
  const auto gap = [](const char* algorithm, std::size_t workers, std::uint64_t steps_each = 2000) {
    return final_gap(algorithm, {.workers = workers, .steps = steps_each, .lr = 0.002}, 0.3f, 120);
  };
  const double untrained = gap("ssdm", 3, 0), gathered = gap("ssdm:keep-norm=true", 3);
  const double three = gap("cascading-ssdm", 3), eight = gap("cascading-ssdm", 8);
  EXPECT_LT(gathered, 0.2 * untrained);
  EXPECT_GT(three, 2 * gathered);
  EXPECT_LT(three, untrained);
  EXPECT_GT(eight, 100 * untrained);
}

} // namespace
} // namespace gossamer::actors
