#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::tiny_world;

constexpr std::size_t rows = 12, columns = 20, bias = 4, size = rows * columns + bias, workers = 4;
const std::vector<tensor_shape> tensors{{rows, columns}, {1, bias}};

tiny_world::make_algorithm power_sgd(const std::string& parameters, const vec& start) {
  return [parameters, start](rank) {
    const auto& entry = algorithms().find("power-sgd");
    const arguments given{"algorithm", entry.about, spec::parse("power-sgd" + parameters)};
    return entry.make({.given = given, .initial = start, .tensors = tensors});
  };
}

TEST(power_sgd, that_compresses_nothing_is_all_reduce_sgd) {
  quadratics p{workers, size, 0.3f};
  const tiny_world::options o{.optimiser = "momentum:beta=0.9", .workers = workers, .steps = 30};
  tiny_world power{o, power_sgd(":rank=12", p.start()), p.gradients()};
  tiny_world dense{o, testing_support::runs("all-reduce-sgd", p.start()), p.gradients()};
  ASSERT_TRUE(power.run() && dense.run());
  EXPECT_EQ(power.model(0), dense.model(0));
}

TEST(power_sgd, of_a_gradient_of_low_rank_is_all_reduce_sgd) {
  buffer_pool pool;
  const auto gradient = [&](rank i, std::uint64_t t, const vec&) {
    vec g{pool, size};
    const auto out = g.mutate();
    for (std::size_t k = 0; k < size; ++k) // of rank 1, with the same columns at all workers
      out[k] = static_cast<float>(1 + k / columns)
               * static_cast<float>(std::cos(0.3 * static_cast<double>((k % columns) * (i + 1) + t)));
    return g;
  };
  const vec start{pool, size};
  const tiny_world::options o{.workers = workers, .steps = 10};
  tiny_world power{o, power_sgd(":rank=1", start), gradient};
  tiny_world dense{o, testing_support::runs("all-reduce-sgd", start), gradient};
  ASSERT_TRUE(power.run() && dense.run());
  EXPECT_LT(squared_distance(power.model(0).view(), dense.model(0).view()), 1e-9);
}

// x_0 - x_T = gamma sum_t P Q^T, and what it lacks of the gradients is in the errors.
TEST(power_sgd, loses_nothing_of_the_gradients) {
  quadratics p{workers, size, 1};
  std::vector<double> applied(size);
  std::vector<const algorithm*> of(workers);
  const auto make = power_sgd("", p.start());
  tiny_world world{{.workers = workers, .steps = 40},
                   [&](rank i) {
                     auto made = make(i);
                     of[i] = made.get();
                     return made;
                   },
                   [&, gradient = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                     vec g = gradient(i, t, x);
                     for (std::size_t k = 0; k < size; ++k)
                       applied[k] += static_cast<double>(g[k]) / workers;
                     return g;
                   }};
  ASSERT_TRUE(world.run());
  std::vector<double> kept(size);
  for (rank i = 0; i < workers; ++i)
    for (std::size_t k = 0; k < size; ++k)
      kept[k] += static_cast<double>(of[i]->residual()[k]) / workers;
  double largest = 0;
  for (std::size_t k = 0; k < size; ++k) {
    EXPECT_NEAR(static_cast<double>(world.model(0)[k]), -0.1 * (applied[k] - kept[k]), 2e-5) << k;
    largest = std::max(largest, std::abs(kept[k]));
  }
  EXPECT_GT(largest, 0.1) << "the gradients are of full rank";
}

TEST(power_sgd, sends_two_factors) {
  quadratics p{workers, size};
  tiny_world world{{.workers = workers, .steps = 5}, power_sgd(":rank=3", p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  std::uint64_t bits = 0;
  for (rank i = 0; i < workers; ++i)
    bits += world.sent(i).payload_bits;
  EXPECT_EQ(bits, 5 * 2 * (workers - 1) * 32 * (3 * (rows + columns) + bias));
}

TEST(power_sgd, comes_to_the_minimum) {
  quadratics p{workers, size};
  tiny_world world{{.workers = workers, .steps = 1500, .lr = 0.2}, power_sgd("", p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  std::vector<double> x(size);
  for (std::size_t k = 0; k < size; ++k)
    x[k] = static_cast<double>(world.model(0)[k]);
  EXPECT_LT(p.gap(x), 1e-6 * p.gap(std::vector<double>(size)));
}

} // namespace
} // namespace gossamer::actors
