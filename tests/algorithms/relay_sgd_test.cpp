// RelaySGD against plain loops to the bit, and what relayed sums promise: each model once, so late as it is far.
#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include <array>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 33;
constexpr float lr = 0.1f;

using numbers = std::vector<float>;

/// A topology, and the edges of its tree.
struct tree_case {
  const char* topology;
  std::size_t workers;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
};

const tree_case cases[] = {
    {"ring", 6, {{0, 1}, {0, 5}, {1, 2}, {2, 3}, {5, 4}}},
    {"star", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}},
    {"complete", 4, {{0, 1}, {0, 2}, {0, 3}}},
    {"hypercube", 8, {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 6}, {3, 7}}},
    {"ring", 2, {{0, 1}}},
    {"ring", 1, {}},
};

std::string name_of(const tree_case& c) { return c.topology + std::string{" of "} + std::to_string(c.workers); }

/// All workers at once. Shares only the gradients with the actors, and adds in their order.
class dense_relay {
public:
  explicit dense_relay(const tree_case& c) : x_(c.workers, numbers(size)), heard_(c.workers) {
    for (const auto& [i, j] : c.edges)
      heard_[i][j] = heard_[j][i] = {numbers(size), 0};
  }

  const numbers& model(std::size_t i) const { return x_[i]; }
  void step(std::uint64_t t, const quadratics& p) {
    auto next = heard_;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const auto g = p.gradient(i, t, x_[i]);
      for (std::size_t k = 0; k < size; ++k)
        x_[i][k] -= lr * g[k];
    }
    for (std::size_t i = 0; i < x_.size(); ++i)
      for (const auto& [j, back] : heard_[i]) {
        auto [sum, count] = total(i);
        for (std::size_t k = 0; k < size; ++k)
          sum[k] -= back.first[k];
        next[j][i] = {sum, count - back.second};
      }
    heard_ = next;
    const auto halves = x_;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const auto [sum, count] = total(i);
      const float share = 1 / static_cast<float>(x_.size()), missing = static_cast<float>(x_.size() - count);
      for (std::size_t k = 0; k < size; ++k)
        x_[i][k] = share * (missing > 0 ? sum[k] + missing * halves[i][k] : sum[k]);
    }
  }

private:
  std::pair<numbers, std::size_t> total(std::size_t i) const {
    std::pair<numbers, std::size_t> all{x_[i], 1};
    for (const auto& [j, heard] : heard_[i]) {
      for (std::size_t k = 0; k < size; ++k)
        all.first[k] += heard.first[k];
      all.second += heard.second;
    }
    return all;
  }

  std::vector<numbers> x_;
  std::vector<std::map<std::size_t, std::pair<numbers, std::size_t>>> heard_;
};

TEST(relay_sgd, does_what_plain_loops_do_to_the_bit) {
  for (const auto& c : cases) {
    quadratics p{c.workers, size, 0.3f};
    tiny_world world{
        {.topology = c.topology, .workers = c.workers, .steps = 60}, runs("relay-sgd", p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    dense_relay dense{c};
    for (std::uint64_t t = 0; t < 60; ++t)
      dense.step(t, p);
    for (rank i = 0; i < c.workers; ++i)
      EXPECT_TRUE(std::ranges::equal(world.model(i).view(), dense.model(i))) << name_of(c) << ", worker " << i;
  }
}

std::size_t distance(const tree_case& c, std::size_t from, std::size_t to) {
  std::vector<std::size_t> far(c.workers, c.workers);
  far[from] = 0;
  for (std::size_t round = 0; round < c.workers; ++round)
    for (const auto& [i, j] : c.edges) {
      far[i] = std::min(far[i], far[j] + 1);
      far[j] = std::min(far[j], far[i] + 1);
    }
  return far[to];
}

// The model of a worker at distance s is s - 1 steps old, and all weigh the same.
TEST(relay_sgd, takes_the_mean_of_all_models_each_as_late_as_it_is_far) {
  for (const auto& c : cases) {
    constexpr std::uint64_t steps = 20;
    quadratics p{c.workers, size, 0.3f};
    std::vector<std::vector<numbers>> started(steps, std::vector<numbers>(c.workers)), half = started;
    tiny_world world{{.topology = c.topology, .workers = c.workers, .steps = steps},
                     runs("relay-sgd", p.start()),
                     [&, of = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                       vec g = of(i, t, x), y = x;
                       y -= lr * g;
                       started[t][i].assign(x.view().begin(), x.view().end());
                       half[t][i].assign(y.view().begin(), y.view().end());
                       return g;
                     }};
    ASSERT_TRUE(world.run());
    for (std::uint64_t t = c.workers; t < steps; ++t) // all have been heard since
      for (std::size_t i = 0; i < c.workers; ++i)
        for (std::size_t k = 0; k < size; ++k) {
          double mean = 0;
          for (std::size_t j = 0; j < c.workers; ++j)
            mean += static_cast<double>(half[t - 1 - (i == j ? 0 : distance(c, i, j) - 1)][j][k]);
          mean /= static_cast<double>(c.workers);
          ASSERT_NEAR(static_cast<double>(started[t][i][k]), mean, 1e-5) << name_of(c) << ", step " << t;
        }
  }
}

/// A neighbour whose sum is over as many workers as it says.
class boaster final : public algorithm {
public:
  boaster(vec x, float says) : x_(std::move(x)), says_(says) {}

  task<> run(worker& w) override {
    auto pool = x_.pool();
    for (std::uint64_t t = 0; co_await w.next_step(t); ++t) {
      const tag of_sum{frame_kind::model, t}, of_count{frame_kind::model, t, 1};
      w.send(0, of_sum, w.encode(x_));
      w.send(0, of_count, w.encode_exactly(vec{pool, std::array{says_}}));
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_); }

private:
  vec x_;
  float says_;
};

TEST(relay_sgd, refuses_sums_over_more_workers_than_there_are) {
  for (const float says : {-1.0f, 3.0f, 1e30f}) {
    quadratics p{2, size};
    const auto relay = runs("relay-sgd", p.start());
    tiny_world world{{.workers = 2},
                     [&](rank i) { return i == 0 ? relay(i) : std::make_unique<boaster>(p.start(), says); },
                     p.gradients()};
    EXPECT_THROW(world.run(), error) << says;
  }
}

TEST(relay_sgd, reaches_the_minimum_where_data_differ) {
  for (const auto& c : cases) {
    quadratics p{c.workers, size};
    tiny_world world{
        {.topology = c.topology, .workers = c.workers, .steps = 800}, runs("relay-sgd", p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    for (rank i = 0; i < c.workers; ++i)
      EXPECT_LT(p.gap({world.model(i).view().begin(), world.model(i).view().end()}), 1e-8) << name_of(c);
  }
}

// Constant gradients move all models by gamma / (1 + tau), with tau the mean delay of all pairs.
TEST(relay_sgd, is_slowed_by_its_delays) {
  for (const auto& c : cases) {
    constexpr std::uint64_t steps = 300;
    quadratics p{c.workers, size};
    const vec g = p.gradients()(0, 0, p.start());
    double delays = 0;
    for (std::size_t i = 0; i < c.workers; ++i)
      for (std::size_t j = 0; j < c.workers; ++j)
        delays += i == j ? 0 : static_cast<double>(distance(c, i, j)) - 1;
    const double tau = delays / std::pow(static_cast<double>(c.workers), 2);
    std::vector<vec> at(steps);
    tiny_world world{{.topology = c.topology, .workers = c.workers, .steps = steps},
                     runs("relay-sgd", p.start()),
                     [&](rank i, std::uint64_t t, const vec& x) {
                       if (i == 0)
                         at[t] = x;
                       return g;
                     }};
    ASSERT_TRUE(world.run());
    for (std::size_t k = 0; k < size; ++k) {
      const double moved = static_cast<double>(at[steps - 1][k]) - static_cast<double>(at[steps - 101][k]);
      const double expected = -100 * static_cast<double>(lr) * static_cast<double>(g[k]) / (1 + tau);
      EXPECT_NEAR(moved, expected, 1e-3 * std::abs(expected) + 1e-4) << name_of(c);
    }
  }
}

TEST(relay_sgd, moves_nothing_without_gradients) {
  for (const auto& c : cases) {
    quadratics p{c.workers, size};
    const vec start = p.gradients()(0, 0, p.start());
    tiny_world world{{.topology = c.topology, .workers = c.workers, .steps = 50},
                     runs("relay-sgd", start),
                     [](rank, std::uint64_t, const vec& x) { return zeros_like(x); }};
    ASSERT_TRUE(world.run());
    for (rank i = 0; i < c.workers; ++i)
      EXPECT_LT(squared_distance(world.model(i).view(), start.view()), 1e-9 * sum_of_squares(start.view()));
  }
}

// Sums that came along another tree would count models twice.
TEST(relay_sgd, forgets_what_it_has_heard_when_it_goes_on_with_another_topology) {
  quadratics p{8, size};
  const vec start = p.gradients()(0, 0, p.start());
  const auto still = [](rank, std::uint64_t, const vec& x) { return zeros_like(x); };
  tiny_world before{
      {.topology = "ring", .workers = 8, .steps = 30, .keep_states_at = 20}, runs("relay-sgd", start), still};
  ASSERT_TRUE(before.run());
  for (const char* topology : {"ring", "star", "hypercube"}) {
    tiny_world after{{.topology = topology, .workers = 8, .steps = 60, .saved = before.kept_states()},
                     runs("relay-sgd", start),
                     still};
    ASSERT_TRUE(after.run());
    for (rank i = 0; i < 8; ++i)
      EXPECT_LT(squared_distance(after.model(i).view(), start.view()), 1e-9 * sum_of_squares(start.view())) << topology;
  }
}

TEST(relay_sgd, of_one_worker_is_sgd_to_the_bit) {
  for (const char* optimiser : {"sgd", "momentum:beta=0.9", "nesterov:beta=0.9,weight-decay=0.01"}) {
    quadratics p{1, size, 0.3f};
    tiny_world world{{.optimiser = optimiser, .workers = 1, .steps = 50}, runs("relay-sgd", p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    vec x = p.start();
    const auto plain = compute::make_optimiser(optimiser);
    for (std::uint64_t t = 0; t < 50; ++t)
      plain->step(x, p.gradients()(0, t, x), lr);
    EXPECT_EQ(world.model(0), x) << optimiser;
  }
}

TEST(relay_sgd, sends_a_sum_and_a_count_along_each_edge_of_the_tree_alone) {
  for (const auto& c : cases) {
    quadratics p{c.workers, size};
    tiny_world world{
        {.topology = c.topology, .workers = c.workers, .steps = 10}, runs("relay-sgd", p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    std::uint64_t bits = 0;
    for (rank i = 0; i < c.workers; ++i)
      bits += world.sent(i).payload_bits;
    EXPECT_EQ(bits, 10 * 2 * (c.workers - 1) * (32 * size + 32)) << name_of(c);
    for (const auto& [i, j] : c.edges) {
      EXPECT_EQ(world.frames_from_to(static_cast<rank>(i), static_cast<rank>(j)), 20u) << name_of(c);
      EXPECT_EQ(world.frames_from_to(static_cast<rank>(j), static_cast<rank>(i)), 20u) << name_of(c);
    }
  }
}

} // namespace
} // namespace gossamer::actors
