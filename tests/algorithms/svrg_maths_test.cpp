// The formulas of AsyLPG, Sparse-AsyLPG, Acc-AsyLPG and HALP.
#include "gossamer/compress/uniform.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <sstream>

#include "svrg_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::logistic_problem;
using testing_support::svrg_run;
using testing_support::tiny_world;
using kind = svrg_kind;
using point = logistic_problem::point;

/// Returns E |Q(x) - x|^2 over Q for b bits, by its definition.
double expected_error(const vec& x, int bits) {
  double largest = 0, sum = 0;
  for (const float v : x.view())
    largest = std::max(largest, std::abs(static_cast<double>(v)));
  const double delta = largest / (std::pow(2, bits - 1) - 1);
  for (const float v : x.view()) {
    const double y = static_cast<double>(v) / delta, r = y - std::floor(y);
    sum += delta * delta * r * (1 - r);
  }
  return sum;
}

// T54 and T55
TEST(asy_lpg, sends_models_in_the_fewest_bits_that_the_condition_allows) {
  for (const bool accelerated : {false, true})
    for (const double mu : {0.01, 0.5, 10.0}) {
      svrg_run run{.problem = {400, 30},
                   .algorithm =
                       (accelerated ? "acc-asy-lpg:output=iterate,model-bits=0,mu=" : "asy-lpg:model-bits=0,mu=")
                       + std::to_string(mu),
                   .epochs = 6};
      std::uint64_t quantised = 0, exact = 0;
      run.on_send = [&](rank to, const frame& f) {
        const auto label = svrg_label::of(f.label.part);
        if (to == run.master() || label.kind != kind::model)
          return;
        const auto& x = run.world->model(run.master());
        const double theta = accelerated ? 2.0 / (label.number + 2.0) : 1;
        const double allowed = theta * mu * squared_distance(x.view(), run.snapshots.back().view());
        const bool is_exact = f.body.bits == 32 * x.size();
        const int bits = is_exact ? 17 : static_cast<int>((f.body.bits - 32) / x.size());
        if (!is_exact) {
          EXPECT_LE(expected_error(x, bits), allowed * (1 + 1e-4));
        }
        for (int b = 2; b < bits; ++b)
          EXPECT_GT(expected_error(x, b), allowed * (1 - 1e-4)) << b << " bits were enough instead of " << bits;
        ++(is_exact ? exact : quantised);
      };
      run.go();
      EXPECT_GT(quantised, 10 * exact);
    }
}

/// Returns the distance of each snapshot's objective from the minimum.
std::vector<double> gaps(svrg_run& run, double least) {
  run.go();
  std::vector<double> result;
  for (const auto& xt : run.snapshots)
    result.push_back(run.problem.objective(logistic_problem::as_point(xt)) - least);
  return result;
}

// T60
TEST(asy_lpg, converges_linearly_under_the_condition_and_centred_and_stalls_without) {
  const logistic_problem p{2000, 60};
  const double least = p.least_objective();
  const auto gaps_of = [&](const char* algorithm) {
    svrg_run run{.problem = p, .algorithm = algorithm, .workers = 5, .epochs = 11};
    return gaps(run, least);
  };
  for (const char* algorithm : {"asy-fpg", "asy-lpg:model-bits=0", "asy-lpg:model-bits=8,centred=true",
                                "sparse-asy-lpg:model-bits=0", "halp"}) {
    const auto g = gaps_of(algorithm);
    ASSERT_GE(g.size(), 11u) << algorithm;
    EXPECT_LT(std::pow(g[10] / g[2], 1.0 / 8), 0.35) << algorithm << " " << g[2] << " " << g[10];
  }
  const auto coarse = gaps_of("asy-lpg:model-bits=4");
  ASSERT_GE(coarse.size(), 11u);
  EXPECT_GT(coarse[10], 1e-5);
  EXPECT_GT(coarse[10], coarse[7] / 10);
}

TEST(asy_lpg, is_asy_fpg_with_exact_codes) {
  const auto model_of = [](const char* algorithm) {
    svrg_run run{.problem = {400, 20}, .algorithm = algorithm};
    run.go();
    return run.world->model(run.master());
  };
  const auto exact = model_of("asy-fpg");
  EXPECT_EQ(model_of("asy-lpg:model-bits=32,gradient-bits=32"), exact);
  EXPECT_EQ(model_of("asy-lpg:model-bits=0,mu=0,gradient-bits=32"), exact);
  EXPECT_EQ(model_of("asy-lpg:model-bits=0,mu=0,gradient-bits=4"), model_of("qsvrg:gradient-bits=4"));
}

// Fixed bits do not ask for condition (2). The log says which mu would have met it.
TEST(asy_lpg, logs_the_mu_that_fixed_bits_came_to) {
  std::ostringstream lines;
  const auto before = spdlog::default_logger();
  auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_st>(lines));
  logger->set_level(spdlog::level::debug);
  logger->set_pattern("%v");
  spdlog::set_default_logger(logger);
  svrg_run run{.problem = {400, 20}, .algorithm = "asy-lpg:model-bits=6", .workers = 1, .epochs = 1};
  std::vector<std::string> expected;
  run.on_send = [&](rank to, const frame& f) {
    if (to == run.master() || svrg_label::of(f.label.part).kind != kind::model)
      return;
    const auto& x = run.world->model(run.master());
    expected.push_back(fmt::format("a model in 6 bits an element meets condition (2) with mu = {:.4g}",
                                   compress::uniform_expected_error(x.view(), 6)
                                       / squared_distance(x.view(), run.snapshots.back().view())));
  };
  run.go();
  spdlog::set_default_logger(before);
  EXPECT_EQ(split(lines.str(), '\n').size(), expected.size() + 1);
  for (const auto& line : expected)
    EXPECT_THAT(lines.str(), testing::HasSubstr(line));
}

// T61
TEST(sparse_asy_lpg, sends_elements_of_one_magnitude_and_counts_their_places) {
  svrg_run run{.problem = {400, 33}, .algorithm = "sparse-asy-lpg:gradient-bits=8"};
  std::uint64_t seen = 0;
  run.on_send = [&](rank to, const frame& f) {
    if (to != run.master() || svrg_label::of(f.label.part).kind != kind::gradient)
      return;
    const auto alpha = compress::decode(f.body);
    const float largest = max_magnitude(alpha.view());
    std::uint64_t survivors = 0;
    for (const float v : alpha.view())
      if (v != 0) {
        EXPECT_EQ(std::abs(v), largest);
        ++survivors;
      }
    EXPECT_EQ(f.body.bits, 32 + survivors * (8 + 6)); // ceil(log2 33) = 6
    seen += survivors > 0;
  };
  run.go();
  EXPECT_GT(seen, 20u);
}

// T62
TEST(acc_asy_lpg, follows_algorithm_3_with_one_worker) {
  svrg_run run{.problem = {200, 12}, .algorithm = "acc-asy-fpg", .workers = 1, .batch = 10, .epochs = 5, .lr = 0.1};
  run.go();
  const auto& p = run.problem;
  const auto all = p.part(0, 1);
  const std::size_t d = p.dimension();
  point x(d), y(d), anchor(d);
  std::uint64_t t = 0;
  for (std::uint64_t s = 1; s <= run.epochs; ++s) {
    const double theta = 2.0 / static_cast<double>(s + 2), eta = 0.1 / theta;
    const auto full = p.gradient(anchor, all);
    point sum(d);
    for (std::size_t i = 0; i < d; ++i)
      x[i] = theta * y[i] + (1 - theta) * anchor[i];
    for (std::uint64_t k = 0; k < 20; ++k, ++t) {
      const auto a = p.batch(0, t, 10);
      const auto here = p.gradient(x, a), there = p.gradient(anchor, a);
      for (std::size_t i = 0; i < d; ++i) {
        y[i] = logistic_problem::shrink(y[i] - eta * (here[i] - there[i] + full[i]), eta * logistic_problem::l1);
        x[i] = anchor[i] + theta * (y[i] - anchor[i]);
        sum[i] += x[i] / 20;
      }
    }
    anchor = sum;
  }
  for (std::size_t i = 0; i < d; ++i)
    EXPECT_NEAR(static_cast<double>(run.world->model(run.master())[i]), anchor[i], 1e-5);
}

TEST(acc_asy_lpg, converges_asynchronously) {
  svrg_run run{.problem = {400, 20}, .algorithm = "acc-asy-lpg:model-bits=0", .epochs = 12, .lr = 0.1};
  const auto g = gaps(run, run.problem.least_objective());
  EXPECT_LT(g.back(), 0.02 * g.front());
}

// A float does not feel a step of half its last place far from the origin; z does.
TEST(halp, moves_on_by_steps_that_are_small_beside_the_model) {
  constexpr std::size_t workers = 2, dimension = 6;
  buffer_pool pool;
  const vec c{pool, std::vector<float>{1000.3f, -1100.1f, 900.7f, 777.7f, -955.5f, 1023.9f}};
  tiny_world world{{.topology = "complete",
                    .workers = workers,
                    .masters = 1,
                    .synchronous = false,
                    .steps = 30 * 50 / workers,
                    .lr = 0.02,
                    .updates_per_epoch = 50},
                   testing_support::runs_with_master("halp:model-bits=16,mu=0.5", workers, vec{pool, dimension}),
                   [&](rank, std::uint64_t, const vec& x) { return x - c; }};
  ASSERT_TRUE(world.run());
  const float last_place = std::nextafter(1000.0f, 2000.0f) - 1000.0f;
  for (std::size_t k = 0; k < dimension; ++k)
    EXPECT_LT(std::abs(world.model(workers)[k] - c[k]), 5 * last_place) << k; // a float would stop 25 last places short
}

TEST(halp, diverges_where_its_grid_would_reach_beyond_the_floats) {
  constexpr std::size_t dimension = 6;
  buffer_pool pool;
  const vec steep{pool, std::vector<float>(dimension, 1e38f)}; // its length over 0.05 is no float
  tiny_world world{
      {.topology = "complete", .workers = 1, .masters = 1, .synchronous = false, .steps = 10, .updates_per_epoch = 50},
      testing_support::runs_with_master("halp", 1, vec{pool, dimension}),
      [&](rank, std::uint64_t, const vec&) { return steep; }};
  try {
    world.run();
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::diverged) << e.what();
  }
}

// T64
TEST(halp, keeps_the_offset_on_a_grid_that_every_snapshot_centres_anew) {
  for (const double mu : {0.05, 5.0}) {
    svrg_run run{.problem = {400, 20}, .algorithm = "halp:model-bits=6,mu=" + std::to_string(mu), .epochs = 4};
    std::uint64_t clamped = 0, moved = 0;
    float step = 0;
    run.on_send = [&](rank to, const frame& f) {
      if (to == run.master() || svrg_label::of(f.label.part).kind != kind::offset)
        return;
      const auto& xt = run.snapshots.back();
      const auto parts = run.problem.part(0, 1);
      const auto full = run.problem.gradient(logistic_problem::as_point(xt), parts);
      double squares = 0;
      for (const double g : full)
        squares += g * g;
      std::memcpy(&step, f.body.payload.data(), sizeof step);
      EXPECT_NEAR(static_cast<double>(step), std::sqrt(squares) / (mu * 31), 1e-4 * static_cast<double>(step));
      const auto z = compress::decode(f.body);
      EXPECT_EQ(run.world->model(run.master()), xt + z); // the worker reads exactly the master's model
      for (const float v : z.view()) {
        const float level = v / step;
        EXPECT_NEAR(level, std::round(level), 1e-3f);
        EXPECT_GE(level, -32.001f);
        EXPECT_LE(level, 31.001f);
        clamped += level < -31.9f || level > 30.9f;
        moved += v != 0;
      }
    };
    run.go();
    EXPECT_GT(moved, 100u);
    if (mu > 1) {
      EXPECT_GT(clamped, 10u);
    }
  }
}

} // namespace
} // namespace gossamer::actors
