// EAMSGD: the elastic move conserves the sum, and the recursion is the paper's.
#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {

namespace {

using testing_support::quadratics;
using testing_support::tiny_world;
using testing_support::world_with_master;

constexpr std::size_t size = 17;

// T66 with delta = 0. The direction from the optimiser counts, with its weight decay.
TEST(eamsgd, follows_the_recursion_of_the_paper_with_one_worker) {
  for (const float delta : {0.0f, 0.9f})
    for (const std::uint64_t period : {1u, 3u})
      for (const float decay : {0.0f, 0.5f}) {
        quadratics p{1, size, 0.3f};
        auto world = world_with_master(
            "eamsgd:moving-rate=0.4,momentum=" + std::to_string(delta) + ",period=" + std::to_string(period), p,
            {.optimiser = "sgd:weight-decay=" + std::to_string(decay), .workers = 1, .steps = 40, .lr = 0.05});
        ASSERT_TRUE(world.run());
        std::vector<float> x(size), v(size), c(size);
        for (std::uint64_t t = 0; t < 40; ++t) {
          std::vector<float> ahead(size), e(size);
          for (std::size_t k = 0; k < size; ++k) {
            e[k] = t % period == 0 ? 0.4f * (x[k] - c[k]) : 0.0f;
            ahead[k] = x[k] + delta * v[k];
          }
          const auto g = p.gradient(0, t, ahead);
          for (std::size_t k = 0; k < size; ++k) {
            v[k] = delta * v[k] - 0.05f * (g[k] + decay * ahead[k]);
            x[k] = x[k] + v[k] - e[k];
            c[k] += e[k];
          }
        }
        for (std::size_t k = 0; k < size; ++k) {
          EXPECT_NEAR(world.model(0)[k], x[k], 1e-5f) << delta << " " << period << " " << decay;
          EXPECT_NEAR(world.model(1)[k], c[k], 1e-5f) << delta << " " << period << " " << decay;
        }
      }
}

// T65: exchanges alone move the models when gradients are zero.
TEST(eamsgd, conserves_the_sum_of_workers_and_centre) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    constexpr std::size_t workers = 4;
    quadratics p{workers, size};
    const auto& entry = algorithms().find("eamsgd");
    const arguments given{"algorithm", entry.about, spec::parse("eamsgd:moving-rate=0.3,momentum=0")};
    buffer_pool pool;
    double before = 0, after = 0;
    tiny_world world{
        {.codec = "uniform:bits=4", .workers = workers, .masters = 1, .synchronous = false, .steps = 50, .seed = seed},
        [&](rank i) {
          vec x{pool, size};
          random_sequence draw{{seed, i, purpose::synthetic}, 0};
          for (float& value : x.mutate())
            before += static_cast<double>(value = static_cast<float>(draw.normal()));
          const algorithm_setup setup{.given = given, .initial = x};
          return i < workers ? entry.make(setup) : entry.make_master(setup);
        },
        [&](rank, std::uint64_t, const vec&) {
          return vec{pool, size};
        }};
    ASSERT_TRUE(world.run());
    for (rank i = 0; i <= workers; ++i)
      for (const float value : world.model(i).view())
        after += static_cast<double>(value);
    EXPECT_NEAR(after, before, 1e-4) << "seed " << seed;
    EXPECT_LT(squared_distance(world.model(0).view(), world.model(workers).view()), 0.5) << "the spring pulls";
  }
}

// T67: the mean diverges at a moving rate that overshoots.
TEST(eamsgd, diverges_when_the_spring_overshoots) {
  constexpr std::size_t workers = 4;
  const auto gap_at = [&](const std::string& rate) {
    quadratics p{workers, size};
    auto world =
        world_with_master("eamsgd:momentum=0,moving-rate=" + rate, p, {.workers = workers, .steps = 200, .lr = 0.05});
    EXPECT_TRUE(world.run());
    const auto c = world.model(workers).view();
    return p.gap({c.begin(), c.end()});
  };
  EXPECT_LT(gap_at("0.225"), 0.05);
  EXPECT_THROW(gap_at("1.6"), error) << "numbers that are not finite cannot be encoded";
}

TEST(eamsgd, sends_a_centre_down_and_a_move_up_every_period) {
  quadratics p{1, size};
  auto world = world_with_master("eamsgd:period=4", p, {.workers = 1, .steps = 40});
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.sent(0).payload_bits, 10 * 32 * size);
  EXPECT_EQ(world.sent(1).payload_bits, 10 * 32 * size);
}

} // namespace

} // namespace gossamer::actors
