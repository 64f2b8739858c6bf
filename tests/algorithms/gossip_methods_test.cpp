// CHOCO-SGD, DeepSqueeze, gradient tracking and D2: what they promise beyond D-PSGD.
#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::dense_gossip;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 33;

double distance(const tiny_world& a, const tiny_world& b, std::size_t workers) {
  double sum = 0;
  for (rank i = 0; i < workers; ++i)
    sum += squared_distance(a.model(i).view(), b.model(i).view());
  return sum;
}

TEST(choco_sgd, that_loses_nothing_is_d_psgd) {
  quadratics p{6, size, 0.3f};
  const tiny_world::options o{.topology = "ring", .optimiser = "sgd:weight-decay=0.1", .workers = 6, .steps = 100};
  tiny_world choco{o, runs("choco-sgd:consensus-rate=1", p.start()), p.gradients()};
  tiny_world d_psgd{o, runs("d-psgd", p.start()), p.gradients()};
  ASSERT_TRUE(choco.run() && d_psgd.run());
  EXPECT_LT(distance(choco, d_psgd, 6), 1e-8);
}

/// Expects that the mean of the models moves by gradients alone. DCD and ECD lose what the codec leaves out.
void expect_a_mean_moved_by_gradients_alone(const std::string& algorithm, const char* codec) {
  constexpr std::size_t workers = 5;
  quadratics p{workers, size, 1};
  std::vector<double> applied(size);
  tiny_world world{{.topology = "ring", .codec = codec, .workers = workers, .steps = 50},
                   runs(algorithm, p.start()),
                   [&, of = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                     vec g = of(i, t, x);
                     for (std::size_t k = 0; k < size; ++k)
                       applied[k] -= 0.1 * static_cast<double>(g[k]);
                     return g;
                   }};
  ASSERT_TRUE(world.run()) << codec;
  const auto sum = world.sum_of_models();
  for (std::size_t k = 0; k < size; ++k)
    EXPECT_NEAR(sum[k], applied[k], 2e-4 * (1 + std::abs(applied[k]))) << codec;
}

TEST(choco_sgd, moves_the_mean_by_gradients_alone_whatever_the_codec) {
  for (const char* codec : {"sign", "top-k:fraction=0.05", "uniform:bits=2", "terngrad"})
    expect_a_mean_moved_by_gradients_alone("choco-sgd:consensus-rate=0.05", codec);
}

TEST(deep_squeeze, moves_the_mean_by_gradients_alone_whatever_the_codec) {
  for (const char* codec : {"scaled-sign", "top-k:fraction=0.05", "min-max:bits=2"})
    expect_a_mean_moved_by_gradients_alone("deep-squeeze:consensus-rate=0.05", codec);
}

/// Returns the part of the workers' first distance from each other that is left after some steps without gradients.
double rest_of_spread(const std::string& algorithm, const char* codec) {
  constexpr std::size_t workers = 8, elements = 400;
  quadratics p{workers, elements};
  const auto spread_after = [&](std::uint64_t steps) {
    tiny_world world{{.topology = "ring", .codec = codec, .workers = workers, .steps = steps},
                     runs(algorithm, p.start()),
                     [&, of = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                       return t == 0 ? of(i, t, x) : zeros_like(x);
                     }};
    EXPECT_TRUE(world.run());
    double sum = 0;
    for (rank i = 1; i < workers; ++i)
      sum += squared_distance(world.model(i).view(), world.model(0).view());
    return sum;
  };
  return spread_after(1500) / spread_after(1);
}

TEST(choco_sgd, agrees_below_the_limit_of_the_consensus_rate_and_not_above) {
  EXPECT_LT(rest_of_spread("choco-sgd:consensus-rate=0.02", "top-k:fraction=0.01"), 1e-3);
  EXPECT_GT(rest_of_spread("choco-sgd:consensus-rate=0.1", "top-k:fraction=0.01"), 1);
  EXPECT_LT(rest_of_spread("choco-sgd:consensus-rate=0.3", "top-k:fraction=0.1"), 1e-3);
  EXPECT_LT(rest_of_spread("choco-sgd:consensus-rate=1.4", "identity"), 1e-3);
}

// What is compressed does not vanish as workers agree.
TEST(deep_squeeze, agrees_up_to_a_floor_that_grows_with_the_consensus_rate) {
  const auto rest = [](const char* algorithm, const char* rate, const char* codec = "top-k:fraction=0.01") {
    return rest_of_spread(std::string(algorithm) + ":consensus-rate=" + rate, codec);
  };
  const double low = rest("deep-squeeze", "0.01"), high = rest("deep-squeeze", "0.04");
  EXPECT_GT(low, 1e-3);
  EXPECT_LT(low, 0.02);
  EXPECT_GT(high, 0.05);
  EXPECT_LT(rest("choco-sgd", "0.04"), 1e-6);
  EXPECT_LT(rest("deep-squeeze", "1", "identity"), 1e-9);
}

TEST(deep_squeeze, sends_one_packet_to_each_neighbour) {
  for (const char* codec : {"scaled-sign", "min-max:bits=4"}) {
    quadratics p{6, size};
    tiny_world world{{.topology = "star", .codec = codec, .workers = 6, .steps = 10},
                     runs("deep-squeeze", p.start()),
                     p.gradients()};
    ASSERT_TRUE(world.run());
    const auto bits = compress::make_codec(codec)->bits(size);
    EXPECT_EQ(world.sent(0).payload_bits, 10 * 5 * bits) << codec;
    EXPECT_EQ(world.sent(1).payload_bits, 10 * bits) << codec;
  }
}

/// Returns the greatest distance of a worker's model from the minimum of the mean of all losses.
double from_minimum(const std::string& algorithm, const char* topology) {
  constexpr std::size_t workers = 8;
  quadratics p{workers, size};
  tiny_world world{{.topology = topology, .workers = workers, .steps = 800}, runs(algorithm, p.start()), p.gradients()};
  EXPECT_TRUE(world.run());
  double greatest = 0;
  for (rank i = 0; i < workers; ++i)
    greatest = std::max(greatest, p.gap({world.model(i).view().begin(), world.model(i).view().end()}));
  return greatest;
}

// Data that differ leave D-PSGD's workers apart. On the ring of eight W has an eigenvalue of -1/3.
TEST(gradient_tracking_and_d2, reach_the_minimum_where_data_differ) {
  for (const char* topology : {"ring", "hypercube", "complete"})
    for (const char* algorithm : {"gradient-tracking", "d2"})
      EXPECT_LT(from_minimum(algorithm, topology), 1e-6) << algorithm << ", " << topology;
  EXPECT_GT(from_minimum("d-psgd", "ring"), 1e-2);
}

TEST(gradient_tracking_and_d2, of_workers_with_the_same_samples_are_sgd) {
  for (const char* algorithm : {"gradient-tracking", "d2"}) {
    quadratics p{1, size, 0.3f};
    const auto same = [&, g = p.gradients()](rank, std::uint64_t t, const vec& x) { return g(0, t, x); };
    const tiny_world::options o{.topology = "ring", .workers = 6, .steps = 100};
    tiny_world world{o, runs(algorithm, p.start()), same}, sgd{o, runs("all-reduce-sgd", p.start()), same};
    ASSERT_TRUE(world.run() && sgd.run());
    EXPECT_LT(distance(world, sgd, 6), 1e-8) << algorithm;
  }
}

TEST(gradient_tracking_and_d2, send_two_vectors_and_one_to_each_neighbour) {
  for (const auto& [algorithm, vectors] : {std::pair{"gradient-tracking", 2u}, std::pair{"d2", 1u}}) {
    quadratics p{4, size};
    tiny_world world{{.topology = "ring", .workers = 4, .steps = 10}, runs(algorithm, p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.sent(0).payload_bits, 10 * 2 * vectors * 32 * size) << algorithm;
  }
}

} // namespace
} // namespace gossamer::actors
