// Algorithms whose workers live on islands: against plain loops, against the same without islands, and what they send.
#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

using sizes = std::vector<std::size_t>;

constexpr std::size_t size = 36;
constexpr std::uint64_t period = 5, rounds = 6, steps = period * rounds;

std::vector<float> values(const vec& v) { return {v.view().begin(), v.view().end()}; }

tiny_world world_of(const std::string& algorithm, quadratics& p, const sizes& islands, std::size_t workers,
                    tiny_world::options o = {}) {
  o.workers = workers;
  o.steps = steps;
  o.islands = islands;
  return {o, runs(algorithm, p.start()), p.gradients()};
}

/// Models of workers after hierarchical local SGD in plain loops.
std::vector<std::vector<double>> in_loops(const quadratics& p, const sizes& islands, std::size_t workers) {
  std::vector x(workers, std::vector<double>(size));
  for (std::uint64_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = p.gradient(i, t, std::vector<float>(x[i].begin(), x[i].end()));
      for (std::size_t k = 0; k < size; ++k)
        x[i][k] -= 0.1 * static_cast<double>(g[k]);
    }
    const auto groups = (t + 1) % period == 0 ? sizes{workers} : islands;
    for (std::size_t first = 0; const auto count : groups) {
      for (std::size_t k = 0; k < size; ++k) {
        double mean = 0;
        for (std::size_t i = first; i < first + count; ++i)
          mean += x[i][k] / static_cast<double>(count);
        for (std::size_t i = first; i < first + count; ++i)
          x[i][k] = mean;
      }
      first += count;
    }
  }
  return x;
}

TEST(islands, average_in_every_step_and_all_workers_in_every_round) {
  for (const auto& islands : {sizes{2, 2}, sizes{3, 1}, sizes{1, 4, 2}, sizes{5}}) {
    const auto workers = std::accumulate(islands.begin(), islands.end(), std::size_t{0});
    for (const char* algorithm : {"local-sgd:period=5", "diloco:period=5,outer=average,outer-lr=1"}) {
      quadratics p{workers, size, 0.3f};
      auto world = world_of(algorithm, p, islands, workers);
      ASSERT_TRUE(world.run());
      const auto expected = in_loops(p, islands, workers);
      for (rank i = 0; i < workers; ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(static_cast<double>(world.model(i)[k]), expected[i][k], 1e-5) << algorithm;
    }
  }
}

TEST(islands, that_are_two_average_as_all_workers_do_where_pairs_exchange) {
  for (const auto& islands : {sizes{2, 2}, sizes{3, 1}, sizes{2, 5}}) {
    const auto workers = islands[0] + islands[1];
    quadratics p{workers, size, 0.3f};
    auto world = world_of("noloco:period=5,outer-lr=1,outer-momentum=0", p, islands, workers);
    ASSERT_TRUE(world.run());
    const auto expected = in_loops(p, islands, workers);
    for (rank i = 0; i < workers; ++i)
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_NEAR(static_cast<double>(world.model(i)[k]), expected[i][k], 1e-5) << workers << " workers";
  }
}

/// phi of heavy ball over the mean progress of all workers, whose gradients do not change.
std::vector<double> heavy_ball(quadratics& p, std::size_t workers) {
  std::vector<double> progress(size), phi(size);
  for (std::size_t i = 0; i < workers; ++i) {
    const auto g = p.gradient(i, 0, p.start().view());
    for (std::size_t k = 0; k < size; ++k)
      progress[k] -= 0.1 * period * static_cast<double>(g[k]) / static_cast<double>(workers);
  }
  for (std::size_t k = 0; k < size; ++k)
    for (double m = 0, round = 0; round < rounds; ++round) {
      m = 0.5 * m + 0.7 * progress[k];
      phi[k] += m;
    }
  return phi;
}

TEST(islands, of_any_sizes_move_the_mean_of_all_workers_as_heavy_ball_does) {
  const sizes islands{1, 4, 2, 3, 1};
  constexpr std::size_t workers = 11;
  for (const char* codec : {"identity", "uniform:bits=6"}) {
    quadratics p{workers, size};
    const auto same_gradients = [&, g = p.gradients()](rank i, std::uint64_t, const vec&) {
      return g(i, 0, p.start());
    };
    tiny_world world{{.codec = codec, .workers = workers, .islands = islands, .steps = steps},
                     runs("noloco:period=5,outer-lr=0.7,outer-momentum=0.5", p.start()),
                     same_gradients};
    ASSERT_TRUE(world.run());
    const auto sum = world.sum_of_models();
    const auto phi = heavy_ball(p, workers);
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(sum[k] / workers, phi[k], 1e-4 * (1 + std::abs(phi[k]))) << codec;
  }
}

/// Models of islands after D-PSGD on the ring of three of them, in plain loops.
std::vector<std::vector<double>> gossip_of_three(const quadratics& p, const sizes& islands) {
  std::vector x(3, std::vector<double>(size));
  for (std::uint64_t t = 0; t < steps; ++t) {
    auto next = x;
    for (std::size_t a = 0, i = 0; a < 3; ++a) {
      const auto m = static_cast<double>(islands[a]);
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t k = 0; k < size; ++k)
          next[a][k] += static_cast<double>(std::min(islands[a], islands[b])) / m / 3 * (x[b][k] - x[a][k]);
      for (std::size_t member = 0; member < islands[a]; ++member, ++i) {
        const auto g = p.gradient(i, t, std::vector<float>(x[a].begin(), x[a].end()));
        for (std::size_t k = 0; k < size; ++k)
          next[a][k] -= 0.1 / m * static_cast<double>(g[k]);
      }
    }
    x = next;
  }
  return x;
}

TEST(islands, gossip_along_their_own_graph) {
  for (const auto& islands : {sizes{2, 2, 2}, sizes{3, 1, 2}}) {
    quadratics p{6, size, 0.3f};
    auto world = world_of("d-psgd", p, islands, 6);
    ASSERT_TRUE(world.run());
    const auto expected = gossip_of_three(p, islands);
    for (std::size_t a = 0, i = 0; a < 3; ++a)
      for (std::size_t member = 0; member < islands[a]; ++member, ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(static_cast<double>(world.model(static_cast<rank>(i))[k]), expected[a][k], 1e-5);
  }
}

TEST(islands, of_one_worker_each_change_nothing) {
  for (const char* algorithm : {"local-sgd:period=5", "diloco:period=5", "noloco:period=5", "d-psgd", "ad-psgd"})
    for (const char* codec : {"identity", "uniform:bits=4"}) {
      if (std::string_view{algorithm}.starts_with("local") && std::string_view{codec} != "identity")
        continue;
      quadratics p{4, size, 0.3f};
      const tiny_world::options o{.codec = codec, .synchronous = std::string_view{algorithm} != "ad-psgd"};
      auto apart = world_of(algorithm, p, sizes(4, 1), 4, o), plain = world_of(algorithm, p, {}, 4, o);
      ASSERT_TRUE(apart.run() && plain.run());
      for (rank i = 0; i < 4; ++i)
        EXPECT_EQ(values(apart.model(i)), values(plain.model(i))) << algorithm << ", " << codec;
    }
}

TEST(islands, that_are_one_are_local_sgd_with_a_period_of_one) {
  quadratics p{5, size, 0.3f};
  auto island = world_of("local-sgd:period=5", p, {5}, 5), all = world_of("local-sgd:period=1", p, {}, 5);
  ASSERT_TRUE(island.run() && all.run());
  for (rank i = 0; i < 5; ++i)
    EXPECT_EQ(values(island.model(i)), values(all.model(i)));
}

/// Asynchronous workers that do all their steps: nobody tells them before that enough has been done.
tiny_world::options with_heads(std::uint64_t timing) {
  return {.synchronous = false, .equal_steps = true, .timing = timing, .done = 1ull << 40};
}

TEST(islands, with_heads_that_are_one_do_plain_parallel_sgd) {
  for (std::uint64_t timing = 0; timing < 20; ++timing)
    for (const char* form : {"ad-psgd", "ad-psgd:owed=1", "ad-psgd:form=snapshot", "ad-psgd:averaging=continuous"}) {
      quadratics p{5, size, 0.3f};
      auto island = world_of(form, p, {5}, 5, with_heads(timing)), all = world_of("all-reduce-sgd", p, {}, 5);
      ASSERT_TRUE(island.run() && all.run()) << form;
      for (rank i = 0; i < 5; ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(island.model(i)[k], all.model(0)[k], 1e-5) << form;
    }
}

TEST(islands, with_heads_leave_averagings_to_these) {
  constexpr std::uint64_t whole = 32 * size, most = 4 * steps;
  for (std::uint64_t timing = 0; timing < 20; ++timing) {
    std::uint64_t within = 0, between = 0;
    auto o = with_heads(timing);
    o.codec = "uniform:bits=4";
    o.on_send = [&](rank to, const frame& f) {
      if (f.label.kind == frame_kind::invitation)
        return;
      const bool is_averaging =
          f.label.kind == frame_kind::average_request || f.label.kind == frame_kind::average_reply;
      EXPECT_EQ(is_averaging, (f.source < 3) != (to < 3));
      EXPECT_TRUE(!is_averaging || (f.source % 3 == 0 && to % 3 == 0)) << f.source << " to " << to;
      (is_averaging ? between : within) += f.body.bits;
    };
    quadratics p{5, size, 0.3f};
    auto world = world_of("ad-psgd", p, {3, 2}, 5, o);
    ASSERT_TRUE(world.run());
    EXPECT_EQ(within, (2 + 1) * steps * 2 * whole);
    EXPECT_GT(between, 0u);
    EXPECT_LE(between, most * compress::make_codec(o.codec)->bits(size));
    EXPECT_EQ(values(world.model(1)), values(world.model(2))) << "the head's answer";
  }
}

TEST(islands, leave_the_same_bits_on_all_workers_whatever_the_codec) {
  for (const char* codec : {"identity", "uniform:bits=4", "top-k:fraction=0.3"}) {
    quadratics p{7, size, 0.3f};
    auto world = world_of("diloco:period=5", p, {1, 4, 2}, 7, {.codec = codec});
    ASSERT_TRUE(world.run());
    for (rank i = 1; i < 7; ++i)
      EXPECT_EQ(values(world.model(i)), values(world.model(0))) << codec;
  }
}

/// Payload bits between two islands of 3 and 3, in both directions, and within them.
struct crossing {
  std::uint64_t between = 0, within = 0;
};

crossing bits_of(const char* codec, const char* algorithm = "diloco:period=5") {
  crossing sum;
  quadratics p{6, size, 0.3f};
  auto world = world_of(algorithm, p, {3, 3}, 6, {.codec = codec, .on_send = [&](rank to, const frame& f) {
                                                    (f.source / 3 == to / 3 ? sum.within : sum.between) += f.body.bits;
                                                  }});
  EXPECT_TRUE(world.run());
  return sum;
}

TEST(islands, send_between_them_as_much_as_two_workers_do) {
  constexpr std::uint64_t whole = 32 * size;
  EXPECT_EQ(bits_of("identity").between, rounds * 2 * whole);
  EXPECT_EQ(bits_of("uniform:bits=4").between, rounds * 4 * compress::make_codec("uniform:bits=4")->bits(size / 2));
  // Each island has 3 workers: a ring in each step, and the head's mean to two others in each round.
  const auto ring = 2 * 2 * whole;
  EXPECT_EQ(bits_of("identity").within, 2 * (steps * ring + rounds * 2 * whole));
  const auto pairs = bits_of("uniform:bits=4", "noloco:period=5");
  EXPECT_EQ(pairs.between, rounds * 2 * compress::make_codec("uniform:bits=4")->bits(size));
  EXPECT_EQ(pairs.within, bits_of("identity").within);
}

} // namespace
} // namespace gossamer::actors
