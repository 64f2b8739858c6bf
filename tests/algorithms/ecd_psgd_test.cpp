#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gtest/gtest.h>

#include "actors/small_run.hpp"
#include "actors/worker_fixture.hpp"
#include "gossip_problem.hpp"
#include "usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing_support::final_gap;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

// E xt = x, and the variance is at most that of the codec divided by the number of steps: E |xt - x|^2 <= S / t with S
// = 2 d step^2 / 4 for a grid.
TEST(ecd_psgd, estimates_without_bias_and_better_from_step_to_step) {
  constexpr std::size_t size = 40, workers = 4;
  constexpr int times = 300;
  constexpr float grid = 0.25f;
  quadratics problem{workers, size};
  for (const std::uint64_t steps : {1u, 2u, 3u, 4u, 8u, 25u}) {
    std::vector<double> sum(size), squares(size);
    for (int run = 0; run < times; ++run) {
      tiny_world world{{.codec = "fixed-grid:step=0.25",
                        .workers = workers,
                        .steps = steps,
                        .seed = static_cast<std::uint64_t>(run + 1)},
                       runs("ecd-psgd", problem.start()),
                       problem.gradients()};
      ASSERT_TRUE(world.run());
      const auto state = world.worker(0).state();
      vec x, estimate;
      std::uint64_t t = 0;
      archive_reader{state, {}}(x)(t)(estimate);
      ASSERT_EQ(t, steps);
      for (std::size_t k = 0; k < size; ++k) {
        const double e = static_cast<double>(estimate[k]) - static_cast<double>(x[k]);
        sum[k] += e;
        squares[k] += e * e;
      }
    }
    double variance = 0;
    for (std::size_t k = 0; k < size; ++k) {
      variance += squares[k] / times;
      EXPECT_LT(std::abs(sum[k]), 4.5 * std::sqrt(squares[k]) + 1e-4) << "element " << k << " after " << steps;
    }
    const double s = 2.0 * size * grid * grid / 4;
    EXPECT_LT(static_cast<double>(steps + 1) * variance, 1.05 * s) << steps;
    EXPECT_GT(variance, 0) << steps;
  }
}

/// One of three workers, with both others as neighbours.
struct lone_worker {
  lone_worker() { w.run(*program); }
  void gradient(std::uint64_t t) { w.gradient_arrived({t, vec{pool, 3}, 0.0}); }
  /// @param s coefficient of the sender
  void difference(rank from, std::uint64_t step, std::uint32_t s) {
    w.deliver({.source = from, .label = {frame_kind::difference, step, s - 1, 1}, .body = w.encode(vec{pool, 3})});
  }
  std::size_t sent() const { return host.frames.size(); }

  buffer_pool pool;
  std::shared_ptr<const experiment> e = small_run("ecd-psgd", "ring", 3);
  testing_support::recording_host host;
  std::unique_ptr<algorithm> program = e->make_algorithm();
  hosted_worker w{e->for_worker(0), compute::make_optimiser("sgd"), host}; // last: its coroutine refers to the rest
};

TEST(ecd_psgd, does_not_take_a_message_whose_coefficient_is_another) {
  lone_worker one;
  one.gradient(0);
  EXPECT_EQ(one.sent(), 2u);
  one.gradient(1);
  one.difference(1, 0, 2);
  one.difference(2, 0, 1); // the literal s = t of the text
  one.difference(2, 0, 3);
  one.difference(2, 1, 3); // a message of the next step
  EXPECT_EQ(one.sent(), 2u);
  one.difference(2, 0, 2);
  EXPECT_EQ(one.sent(), 4u);
}

TEST(ecd_psgd, refuses_biased_codecs_and_names_others) {
  for (const char* codec : {"top-k", "sign"}) {
    run_settings s;
    s.algorithm = "ecd-psgd";
    s.model = "quadratic";
    s.data = "quadratic";
    s.codec = codec;
    const auto message = usage_error([&] { prepare(s); });
    EXPECT_THAT(message, testing::HasSubstr(std::string{"ecd-psgd needs a codec that is unbiased, and '"} + codec));
    EXPECT_THAT(message, testing::HasSubstr("min-max"));
    EXPECT_THAT(message, testing::HasSubstr("fixed-grid"));
  }
}

/// Returns the training loss before and after some steps of a small network on a ring of 16.
std::pair<double, double> losses(const char* algorithm, const char* codec, std::uint64_t steps) {
  run_settings s;
  s.algorithm = algorithm;
  s.codec = codec;
  s.topology = "ring";
  s.data = "digits:samples=800,test=100";
  s.model = "mlp:hidden=16";
  s.workers = 16;
  s.batch = 8;
  s.steps = steps;
  s.lr = 0.1;
  struct first_loss final : run_observer {
    void on_evaluation(const evaluation_record& r) override {
      if (r.step == 0)
        value = r.train_loss;
    }
    double value = 0;
  } before;
  const double after = simulate(prepare(s), {}, {.observer = &before}).summary.final.train_loss;
  return {before.value, after};
}

// Four bits are enough for differences and not for extrapolations if the codec follows the range of its vectors.
TEST(ecd_psgd, diverges_at_four_bits_where_dcd_psgd_learns_like_d_psgd) {
  const double exact = losses("d-psgd", "identity", 250).second;
  EXPECT_LT(losses("dcd-psgd", "min-max:bits=4", 250).second, 1.1 * exact);
  EXPECT_LT(losses("ecd-psgd", "min-max:bits=8", 250).second, 1.5 * exact);
  const auto [before, after] = losses("ecd-psgd", "min-max:bits=4", 400);
  EXPECT_GT(after, 1.5 * before);
}

TEST(ecd_psgd, learns_at_four_bits_when_it_is_refreshed) {
  const auto [before, after] = losses("ecd-psgd:refresh=10", "min-max:bits=4", 400);
  EXPECT_LT(after, 0.5 * before);
}

TEST(ecd_psgd, beats_dcd_psgd_where_the_error_does_not_depend_on_the_range) {
  const auto gap = [](const char* algorithm) {
    return final_gap(algorithm, {.codec = "fixed-grid:step=0.5", .workers = 8, .steps = 1000, .lr = 0.05}, 0.1f);
  };
  EXPECT_LT(gap("ecd-psgd"), gap("dcd-psgd") / 3);
}

} // namespace
} // namespace gossamer::actors
