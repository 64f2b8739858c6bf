#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 40, workers = 4;
constexpr std::uint64_t period = 5, rounds = 12, steps = period * rounds;

TEST(sparse_loco, that_sends_all_is_diloco_with_plain_averages) {
  quadratics p{workers, size, 0.3f};
  const tiny_world::options o{.workers = workers, .steps = steps};
  tiny_world sparse{o, runs("sparse-loco:period=5,outer-lr=0.8", p.start()), p.gradients()};
  tiny_world diloco{o, runs("diloco:period=5,outer=average,outer-lr=0.8", p.start()), p.gradients()};
  ASSERT_TRUE(sparse.run() && diloco.run());
  for (rank i = 0; i < workers; ++i)
    EXPECT_LT(squared_distance(sparse.model(i).view(), diloco.model(i).view()), 1e-9);
}

// With beta = 1: theta_T - alpha mean e_T = theta_0 - alpha sum of the mean progress.
TEST(sparse_loco, loses_nothing_of_what_it_does_not_send) {
  for (const char* codec : {"top-k:k=3", "sign", "uniform:bits=2"}) {
    quadratics p{workers, size};
    std::vector<const algorithm*> of(workers);
    const auto make = runs("sparse-loco:period=5,decay=1,outer-lr=0.5", p.start());
    tiny_world world{{.codec = codec, .workers = workers, .steps = steps},
                     [&](rank i) {
                       auto made = make(i);
                       of[i] = made.get();
                       return made;
                     },
                     [&, g = p.gradients()](rank i, std::uint64_t, const vec&) { return g(i, 0, p.start()); }};
    ASSERT_TRUE(world.run()) << codec;
    for (std::size_t k = 0; k < size; ++k) {
      double error = 0, progress = 0;
      for (std::size_t i = 0; i < workers; ++i) {
        error += static_cast<double>(of[i]->residual()[k]) / workers;
        progress += 0.1 * steps * static_cast<double>(p.gradient(i, 0, p.start().view())[k]) / workers;
      }
      EXPECT_NEAR(static_cast<double>(world.model(0)[k]) - 0.5 * error, -0.5 * progress,
                  2e-4 * (1 + std::abs(progress)))
          << codec;
    }
  }
}

/// Returns a model after one round in which worker i moves coordinate i alone, and worker 0 by so much.
std::vector<float> after_one_round(const std::string& parameters, float first = 1) {
  quadratics p{workers, size};
  tiny_world world{{.codec = "top-k:k=1", .workers = workers, .steps = period},
                   runs("sparse-loco:period=5," + parameters, p.start()),
                   [&](rank i, std::uint64_t, const vec& x) {
                     vec g = zeros_like(x);
                     g.mutate()[i] = i == 0 ? first : 1;
                     return g;
                   }};
  EXPECT_TRUE(world.run());
  return {world.model(0).view().begin(), world.model(0).view().end()};
}

TEST(sparse_loco, divides_by_all_workers_or_by_those_that_have_sent) {
  for (rank i = 0; i < workers; ++i) {
    EXPECT_FLOAT_EQ(after_one_round("aggregate=workers")[i], -0.1f * period / workers);
    EXPECT_FLOAT_EQ(after_one_round("aggregate=senders")[i], -0.1f * period);
  }
}

TEST(sparse_loco, bounds_what_a_worker_gone_wrong_does) {
  EXPECT_NEAR(after_one_round("clip=none", 1000)[0], -100 * 5 / 4.0, 1e-3);
  EXPECT_FLOAT_EQ(after_one_round("clip=median", 1000)[0], -0.1f * period / workers) << "as long as the others";
  EXPECT_FLOAT_EQ(after_one_round("clip=median", 1000)[1], -0.1f * period / workers);
}

TEST(sparse_loco, sends_its_packet_round_the_ring) {
  quadratics p{workers, size, 0.3f};
  tiny_world world{{.codec = "top-k:k=4", .workers = workers, .steps = steps},
                   runs("sparse-loco:period=5", p.start()),
                   p.gradients()};
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < workers; ++i)
    EXPECT_EQ(world.sent(i).payload_bits, rounds * (workers - 1) * compress::make_codec("top-k:k=4")->bits(size));
}

} // namespace
} // namespace gossamer::actors
