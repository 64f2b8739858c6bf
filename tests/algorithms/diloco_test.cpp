// DiLoCo, its streaming form, and NoLoCo: outer steps against plain loops, and what they send.
#include "gossamer/actors/collectives/fragments.hpp"
#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include "outer_problem.hpp"

namespace gossamer::actors {
namespace {

using namespace testing_support::outer_problem;

std::vector<float> values(const vec& v) { return {v.view().begin(), v.view().end()}; }

tiny_world world_of(const std::string& algorithm, quadratics& p, const std::string& codec = "identity",
                    std::size_t n = workers) {
  return {{.codec = codec, .workers = n, .steps = steps}, runs(algorithm, p.start()), p.gradients()};
}

/// One coordinate's outer step, in double precision.
using scalar_step = std::function<void(double& theta, double& u, double delta)>;

struct outer_rule {
  const char* spec;
  scalar_step step;
};

const outer_rule outer_rules[] = {
    {"nesterov,outer-lr=0.6,outer-momentum=0.7",
     [](double& theta, double& u, double delta) {
       u = 0.7 * u + delta;
       theta -= 0.6 * (delta + 0.7 * u);
     }},
    {"heavy-ball,outer-lr=0.6,outer-momentum=0.7",
     [](double& theta, double& u, double delta) {
       u = 0.7 * u - 0.6 * delta;
       theta += u;
     }},
    {"slowmo,outer-lr=0.9,outer-momentum=0.5",
     [](double& theta, double& u, double delta) {
       u = 0.5 * u + delta / gamma;
       theta -= 0.9 * gamma * u;
     }},
    {"average,outer-lr=0.6,outer-momentum=0.7", [](double& theta, double&, double delta) { theta -= 0.6 * delta; }},
};

/// DiLoCo in plain loops.
std::vector<double> theta_of(const scalar_step& outer, const quadratics& p) {
  std::vector<double> theta(size), u(size);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<double> delta(size);
    for (std::size_t i = 0; i < workers; ++i) {
      std::vector<float> x(theta.begin(), theta.end());
      for (std::uint64_t h = 0; h < period; ++h) {
        const auto g = p.gradient(i, round * period + h, x);
        for (std::size_t k = 0; k < size; ++k)
          x[k] -= 0.1f * g[k];
      }
      for (std::size_t k = 0; k < size; ++k)
        delta[k] += (theta[k] - static_cast<double>(x[k])) / workers;
    }
    for (std::size_t k = 0; k < size; ++k)
      outer(theta[k], u[k], delta[k]);
  }
  return theta;
}

TEST(diloco, takes_the_outer_step_of_its_rule) {
  for (const auto& rule : outer_rules)
    for (const char* codec : {"identity", "uniform:bits=16"}) {
      quadratics p{workers, size, 0.3f};
      auto world = world_of(std::string{"diloco:period=5,outer="} + rule.spec, p, codec);
      ASSERT_TRUE(world.run());
      const auto expected = theta_of(rule.step, p);
      const double allowed = std::string_view{codec} == "identity" ? 1e-5 : 5e-3;
      for (rank i = 0; i < workers; ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(static_cast<double>(world.model(i)[k]), expected[k], allowed) << rule.spec << ", " << codec;
    }
}

bool drops(std::uint64_t t, std::size_t i, double probability) {
  return random_stream{1, nobody, purpose::shared_1}.uniform(t, i) < static_cast<float>(probability);
}

// A mean over all workers instead of those whose move arrives would shorten the step; the others keep their own models.
TEST(diloco, divides_by_the_moves_that_arrive) {
  for (const double probability : {0.3, 0.9}) { // with 0.9 there are rounds without any
    quadratics p{workers, size, 0.3f};
    std::vector<std::vector<double>> x(workers, std::vector<double>(size));
    std::vector<double> theta(size), u(size);
    std::size_t empty = 0;
    for (std::uint64_t t = 0; t < steps; ++t) {
      for (std::size_t i = 0; i < workers; ++i) {
        const auto g = p.gradient(i, t, std::vector<float>(x[i].begin(), x[i].end()));
        for (std::size_t k = 0; k < size; ++k)
          x[i][k] -= 0.1 * static_cast<double>(g[k]);
      }
      if ((t + 1) % period != 0)
        continue;
      std::vector<double> sum(size);
      std::size_t arrive = 0;
      for (std::size_t i = 0; i < workers; ++i)
        if (!drops(t, i, probability)) {
          ++arrive;
          for (std::size_t k = 0; k < size; ++k)
            sum[k] += theta[k] - x[i][k];
        }
      empty += arrive == 0 ? 1 : 0;
      for (std::size_t k = 0; k < size && arrive > 0; ++k) {
        const double delta = sum[k] / static_cast<double>(arrive);
        u[k] = 0.7 * u[k] + delta;
        theta[k] -= 0.6 * (delta + 0.7 * u[k]);
      }
      for (std::size_t i = 0; i < workers; ++i)
        if (!drops(t, i, probability))
          x[i] = theta;
    }
    EXPECT_EQ(empty > 0, probability > 0.5);
    for (const char* codec : {"identity", "uniform:bits=16"}) {
      auto world =
          world_of("diloco:period=5,outer-lr=0.6,outer-momentum=0.7,drop=" + std::to_string(probability), p, codec);
      ASSERT_TRUE(world.run());
      for (rank i = 0; i < workers; ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(static_cast<double>(world.model(i)[k]), x[i][k], codec == std::string{"identity"} ? 1e-5 : 5e-3)
              << probability << ", " << codec << ", worker " << i;
    }
  }
}

TEST(diloco, without_an_outer_optimiser_is_local_sgd_bit_for_bit) {
  for (const char* spec : {"diloco:period=5,outer=average,outer-lr=1", "diloco:period=5,outer-lr=1,outer-momentum=0",
                           "diloco:period=5,outer=slowmo,outer-lr=1,outer-momentum=0"}) {
    quadratics p{workers, size, 0.3f};
    auto world = world_of(spec, p), local = world_of("local-sgd:period=5", p);
    ASSERT_TRUE(world.run() && local.run());
    for (rank i = 0; i < workers; ++i)
      EXPECT_EQ(world.model(i), local.model(i)) << spec;
  }
}

TEST(diloco, leaves_the_same_bits_on_all_workers_whatever_the_codec) {
  for (const char* codec : {"identity", "uniform:bits=4", "top-k:fraction=0.3", "sign"})
    for (const std::size_t n : {1u, 2u, 5u, 40u}) { // with 40 some segments are empty
      quadratics p{n, size, 0.3f};
      auto world = world_of("diloco:period=5", p, codec, n);
      ASSERT_TRUE(world.run()) << codec;
      for (rank i = 1; i < n; ++i)
        EXPECT_EQ(values(world.model(i)), values(world.model(0))) << codec << ", " << n << " workers";
    }
}

// Each worker packs its part of n - 1 segments, and the mean of its own segment for n - 1 others.
TEST(diloco, sends_two_segments_to_each_other_worker_in_a_round) {
  constexpr std::size_t whole = 32; // elements, so that segments are equal
  for (const char* codec : {"identity", "uniform:bits=8"}) {
    quadratics p{workers, whole, 0.3f};
    auto world = world_of("diloco:period=5", p, codec);
    ASSERT_TRUE(world.run());
    const auto segment = compress::make_codec(codec)->bits(whole / workers);
    for (rank i = 0; i < workers; ++i)
      EXPECT_EQ(world.sent(i).payload_bits, rounds * 2 * (workers - 1) * segment) << codec;
  }
}

// With u the rest of an inner round, 1 - (1 - gamma)^H, the outer step is stable for eta u < 2 (1 + mu) / (1 + 2 mu).
TEST(diloco, is_stable_up_to_the_rate_that_theory_says) {
  const double moved = 1 - std::pow(1 - gamma, period), limit = 2 * 1.9 / 2.8 / moved;
  const auto distance_at = [&](double rate) {
    buffer_pool pool;
    const vec start{pool, std::vector(size, 1.0f)};
    tiny_world world{{.workers = workers, .steps = 60 * period},
                     runs("diloco:period=5,outer-momentum=0.9,outer-lr=" + std::to_string(rate), start),
                     [](rank, std::uint64_t, const vec& x) { return x; }};
    EXPECT_TRUE(world.run());
    return std::abs(world.model(0)[0]);
  };
  EXPECT_LT(distance_at(0.95 * limit), 1);
  EXPECT_GT(distance_at(1.05 * limit), 1);
}

// The mean over all workers follows heavy ball, whoever is whose partner and whatever the codec loses.
TEST(noloco, moves_the_mean_as_diloco_with_heavy_ball_does) {
  for (const std::size_t n : {1u, 2u, 5u, 8u})
    for (const char* codec : {"identity", "uniform:bits=6", "sign"}) {
      quadratics p{n, size};
      tiny_world world{{.codec = codec, .workers = n, .steps = steps},
                       runs("noloco:period=5,outer-lr=0.7,outer-momentum=0.5", p.start()),
                       constant_gradients(p)};
      ASSERT_TRUE(world.run());
      std::vector<double> progress(size);
      for (std::size_t i = 0; i < n; ++i) {
        const auto g = p.gradient(i, 0, p.start().view());
        for (std::size_t k = 0; k < size; ++k)
          progress[k] -= gamma * period * static_cast<double>(g[k]);
      }
      const auto sum = world.sum_of_models();
      for (std::size_t k = 0; k < size; ++k) {
        double m = 0, phi = 0;
        for (std::uint64_t round = 0; round < rounds; ++round) {
          m = 0.5 * m + 0.7 * progress[k];
          phi += m;
        }
        ASSERT_NEAR(sum[k], phi, 2e-4 * (1 + std::abs(phi))) << n << " workers, " << codec;
      }
    }
}

TEST(noloco, of_two_workers_without_momentum_is_local_sgd) {
  quadratics p{2, size, 0.3f};
  auto world = world_of("noloco:period=5,outer-lr=1,outer-momentum=0", p, "identity", 2);
  auto local = world_of("local-sgd:period=5", p, "identity", 2);
  ASSERT_TRUE(world.run() && local.run());
  EXPECT_LT(squared_distance(world.model(0).view(), local.model(0).view()), 1e-10);
}

TEST(noloco, brings_the_models_together_where_it_is_stable) {
  constexpr std::size_t n = 8;
  const auto spread_after = [&](std::uint64_t rounds_of_rest) {
    quadratics p{n, size};
    const auto first_steps_alone = [&, g = p.gradients()](rank i, std::uint64_t t, const vec& x) {
      return t < period ? g(i, t, p.start()) : zeros_like(x);
    };
    tiny_world world{{.workers = n, .steps = period * (1 + rounds_of_rest)},
                     runs("noloco:period=5,outer-lr=0.7,outer-momentum=0.5", p.start()),
                     first_steps_alone};
    EXPECT_TRUE(world.run());
    double spread = 0;
    for (rank i = 1; i < n; ++i)
      spread += squared_distance(world.model(i).view(), world.model(0).view());
    return spread;
  };
  EXPECT_LT(spread_after(60), 1e-4 * spread_after(1));
}

TEST(noloco, refuses_rates_with_which_the_models_do_not_come_together) {
  quadratics p{workers, size};
  try {
    runs("noloco:outer-lr=0.7,outer-momentum=0.9", p.start())(0);
    FAIL() << "2 (1 - 0.81) = 0.38 is the limit";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    EXPECT_NE(std::string{e.what()}.find("come together"), std::string::npos);
  }
  EXPECT_THROW(runs("noloco:outer-lr=0", p.start())(0), error);
  EXPECT_NE(runs("noloco:outer-lr=0.37,outer-momentum=0.9", p.start())(0), nullptr);
}

TEST(noloco, sends_one_model_in_a_round) {
  quadratics p{workers, size};
  auto world = world_of("noloco:period=5", p, "uniform:bits=8");
  ASSERT_TRUE(world.run());
  const auto bits = compress::make_codec("uniform:bits=8")->bits(size);
  for (rank i = 0; i < workers; ++i) {
    EXPECT_EQ(world.sent(i).frames, rounds);
    EXPECT_EQ(world.sent(i).payload_bits, rounds * bits);
  }
}

fragments fragments_of(const std::string& spelling) {
  const auto& about = algorithms().find("streaming-diloco").about;
  return {arguments{"algorithm", about, spec::parse("streaming-diloco:" + spelling)}, "streaming-diloco"};
}

TEST(fragments, take_turns_in_a_period) {
  for (const auto& [period, count, tau] :
       {std::tuple{10u, 1u, 4u}, {10u, 2u, 3u}, {11u, 3u, 2u}, {7u, 7u, 0u}, {1u, 1u, 0u}}) {
    SCOPED_TRACE(testing::Message() << count << " in " << period);
    const auto parts = fragments_of("period=" + std::to_string(period) + ",fragments=" + std::to_string(count)
                                    + ",overlap=" + std::to_string(tau));
    std::optional<std::uint64_t> next;
    for (std::uint64_t done = 60; done-- > 0;) {
      std::optional<std::uint64_t> leaves;
      for (std::uint64_t p = 0; p < count && done > 0; ++p)
        if (done % period == period * p / count)
          leaves = p;
      EXPECT_EQ(parts.leaving(done), leaves) << done;
      if (parts.due(done))
        next = done;
      if (next) {
        EXPECT_EQ(parts.next_due(done), *next) << done;
      }
    }
  }
}

// A member that is lost asks all others for their next exchange.
TEST(fragments, know_when_an_answer_is_due_however_long_the_period_is) {
  const auto parts = fragments_of("period=1000000000,fragments=2,overlap=3");
  EXPECT_EQ(parts.next_due(1), 500'000'003u);
  EXPECT_EQ(parts.next_due(500'000'004), 1'000'000'003u);
}

TEST(streaming_diloco, of_one_fragment_without_overlap_is_diloco_bit_for_bit) {
  for (const char* codec : {"uniform:bits=4", "e3m0"}) {
    quadratics p{workers, size, 0.3f};
    auto world = world_of("streaming-diloco:period=5,fragments=1,overlap=0,own-share=0", p, codec);
    auto diloco = world_of("diloco:period=5", p, codec);
    ASSERT_TRUE(world.run() && diloco.run());
    for (rank i = 0; i < workers; ++i)
      EXPECT_EQ(world.model(i), diloco.model(i)) << codec;
  }
}

TEST(streaming_diloco, does_what_plain_loops_do_for_every_overlap) {
  for (const std::uint64_t tau : {0u, 1u, 4u}) {
    quadratics p{workers, size, 0.3f};
    auto world = world_of("streaming-diloco:period=10,fragments=2,own-share=0.25,overlap=" + std::to_string(tau), p);
    ASSERT_TRUE(world.run());
    const auto expected = streamed(p, tau);
    for (rank i = 0; i < workers; ++i)
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_NEAR(static_cast<double>(world.model(i)[k]), expected[i][k], 1e-4) << "tau " << tau;
  }
}

/// Returns the sum of the models after so many steps, where the last worker leaves earlier and worker 0 is its heir.
std::vector<double> sum_without_leaver(const std::string& spec, std::uint64_t leaves_after, std::uint64_t last,
                                       quadratics& p) {
  constexpr rank heir = 0, leaver = workers - 1;
  std::vector<algorithm*> of(workers);
  const auto make = runs(spec, p.start());
  tiny_world all{{.workers = workers, .steps = leaves_after},
                 [&](rank i) {
                   auto made = make(i);
                   of[i] = made.get();
                   return made;
                 },
                 constant_gradients(p)};
  EXPECT_TRUE(all.run());
  of[heir]->take_over(of[leaver]->handed_over(all.worker(leaver)));
  auto states = all.states();
  states.erase(leaver);
  tiny_world others{{.workers = workers - 1, .steps = last, .saved = states}, make, constant_gradients(p)};
  EXPECT_TRUE(others.run());
  return others.sum_of_models();
}

/// Expects the sum of the models to be that many constant steps of those that stay, and so many of the last worker.
void expect_steps(const std::vector<double>& sum, std::size_t k, double of_others, double of_leaver, quadratics& p) {
  double expected = 0;
  for (std::size_t i = 0; i < workers; ++i)
    expected -=
        gamma * (i + 1 < workers ? of_others : of_leaver) * static_cast<double>(p.gradient(i, 0, p.start().view())[k]);
  ASSERT_NEAR(sum[k], expected, 1e-4 * (1 + std::abs(expected))) << "coordinate " << k;
}

TEST(diloco_and_its_kin, count_what_a_worker_has_moved_before_it_leaves_once_in_the_next_exchange) {
  for (const char* algorithm : {"diloco:period=5,outer=average,outer-lr=1", "sparse-loco:period=5,decay=1,outer-lr=1",
                                "noloco:period=5,outer-lr=1,outer-momentum=0",
                                "streaming-diloco:period=5,fragments=1,overlap=0,own-share=0,outer=average,outer-lr=1"})
    for (const std::uint64_t rounds_more : {1u, 2u}) {
      SCOPED_TRACE(testing::Message() << algorithm << ", " << rounds_more);
      quadratics p{workers, size};
      const auto last = period * rounds_more;
      const auto sum = sum_without_leaver(algorithm, 3, last, p);
      for (std::size_t k = 0; k < size; ++k)
        expect_steps(sum, k, static_cast<double>(last), 3, p);
    }
}

// The second of two fragments leaves after two steps, when the worker leaves, too, and is due a step later. So the
// others begin its exchange anew. What a step does while a fragment is under way is discarded.
TEST(streaming_diloco, counts_what_a_worker_has_moved_that_leaves_while_a_fragment_is_under_way) {
  quadratics p{workers, size};
  const auto sum = sum_without_leaver(
      "streaming-diloco:period=5,fragments=2,overlap=1,own-share=0,outer=average,outer-lr=1", 2, 8, p);
  for (std::size_t k = 0; k < size; ++k)
    expect_steps(sum, k, k < size / 2 ? 5 + 2 : 2 + 4, 2, p);
}

TEST(streaming_diloco, refuses_a_fragment_that_leaves_before_the_last_has_arrived) {
  quadratics p{workers, size};
  for (const char* spec : {"period=10,fragments=2,overlap=5", "period=3,fragments=4,overlap=0", "period=1,overlap=1"})
    EXPECT_THROW(runs(std::string{"streaming-diloco:"} + spec, p.start())(0), error) << spec;
  EXPECT_NE(runs("streaming-diloco:period=10,fragments=2,overlap=4", p.start())(0), nullptr);
}

} // namespace
} // namespace gossamer::actors
