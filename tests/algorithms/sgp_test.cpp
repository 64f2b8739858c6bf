// SGP against plain loops in double precision, and what push-sum promises: the sums of x and w, and the mean.
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/topology/graph.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 33;
constexpr double lr = 0.1;

using numbers = std::vector<double>;

/// One push-sum system, all workers at once. Shares only gradients and random numbers with the actors.
class dense_push {
public:
  dense_push(std::size_t workers, const std::string& topology, double drop, std::uint64_t overlap = 0)
      : n_(workers), overlap_(overlap),
        graph_(topology::make_topology(topology.empty() ? "ring" : topology, workers, 1)),
        along_edges_(!topology.empty()), drop_(static_cast<float>(drop)), x_(workers, numbers(size)), w_(workers, 1) {}

  numbers z(std::size_t i) const {
    numbers result = x_[i];
    for (auto& value : result)
      value /= w_[i];
    return result;
  }
  void step(std::uint64_t t, const quadratics& p) {
    for (std::size_t i = 0; i < n_; ++i) {
      const auto at = z(i);
      const auto g = p.gradient(i, t, std::vector<float>(at.begin(), at.end()));
      for (std::size_t k = 0; k < size; ++k)
        x_[i][k] -= lr * static_cast<double>(g[k]);
    }
    const auto before = x_;
    const auto weight = w_;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto to = receivers(i, t);
      const double part = 1 / static_cast<double>(to.size() + 1);
      for (const auto j : to)
        if (arrives(i, j, t)) {
          move(i, -part, before[i], weight[i]);
          under_way_.push_back({t + overlap_, j, part, before[i], weight[i]});
        }
    }
    arrive(t);
  }
  /// What is under way after the last step arrives as well.
  void end(std::uint64_t steps) {
    for (std::uint64_t t = steps; t < steps + overlap_; ++t)
      arrive(t);
  }

private:
  struct share {
    std::uint64_t due;
    std::size_t to;
    double part;
    numbers x;
    double w;
  };

  void move(std::size_t i, double part, const numbers& x, double w) {
    for (std::size_t k = 0; k < size; ++k)
      x_[i][k] += part * x[k];
    w_[i] += part * w;
  }
  void arrive(std::uint64_t t) {
    for (const auto& s : under_way_)
      if (s.due == t)
        move(s.to, s.part, s.x, s.w);
    std::erase_if(under_way_, [t](const share& s) { return s.due == t; });
  }
  std::vector<std::size_t> receivers(std::size_t i, std::uint64_t t) const {
    if (along_edges_)
      return {graph_.neighbours(static_cast<rank>(i)).begin(), graph_.neighbours(static_cast<rank>(i)).end()};
    std::size_t hops = 1; // floor(log2(n - 1)) + 1
    while ((std::size_t{1} << hops) <= n_ - 1)
      ++hops;
    return {(i + (std::size_t{1} << (t % hops))) % n_};
  }
  bool arrives(std::size_t i, std::size_t j, std::uint64_t t) const {
    return random_stream{1, nobody, purpose::shared_1}.uniform(t, i * n_ + j) >= drop_;
  }

  std::size_t n_;
  std::uint64_t overlap_;
  std::vector<share> under_way_;
  topology::graph graph_;
  bool along_edges_;
  float drop_;
  std::vector<numbers> x_;
  std::vector<double> w_;
};

struct sgp_case {
  const char* algorithm;
  std::size_t workers;
  const char* topology; ///< empty: the exponential graph
  double drop;
  std::uint64_t overlap = 0;
};

const sgp_case cases[] = {
    {"sgp", 7, "", 0},
    {"sgp", 8, "", 0},
    {"sgp:drop=0.3", 7, "", 0.3},
    {"sgp:graph=topology", 6, "star", 0},
    {"sgp:graph=topology", 5, "ring", 0},
    {"sgp:graph=topology,drop=0.3", 6, "star", 0.3},
    {"sgp:overlap=1", 7, "", 0, 1},
    {"sgp:overlap=3", 8, "", 0, 3},
    {"sgp:overlap=2,drop=0.3", 7, "", 0.3, 2},
    {"sgp:overlap=2,graph=topology", 6, "star", 0, 2},
};

tiny_world world_of(const sgp_case& c, quadratics& p, std::uint64_t steps, const char* codec = "identity") {
  return {{.topology = *c.topology == '\0' ? "ring" : c.topology,
           .codec = codec,
           .workers = c.workers,
           .steps = steps,
           .lr = lr},
          runs(c.algorithm, p.start()),
          p.gradients()};
}

TEST(sgp, does_what_plain_loops_do) {
  for (const auto& c : cases) {
    quadratics p{c.workers, size, 0.3f};
    auto world = world_of(c, p, 60);
    ASSERT_TRUE(world.run());
    dense_push dense{c.workers, c.topology, c.drop, c.overlap};
    for (std::uint64_t t = 0; t < 60; ++t)
      dense.step(t, p);
    dense.end(60);
    for (rank i = 0; i < c.workers; ++i) {
      const auto z = dense.z(i);
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_NEAR(static_cast<double>(world.model(i)[k]), z[k], 2e-5)
            << c.algorithm << ' ' << c.topology << ", worker " << i << ", element " << k;
    }
  }
}

/// What a worker keeps, with the shares that it has under way.
struct kept {
  vec x, z;
  double w = 0;
};

kept state_of(tiny_world& world, rank i, std::uint64_t overlap) {
  kept k;
  std::uint64_t t = 0, encodings = 0;
  std::uint32_t view = 0;
  bool whole = false;
  const auto bytes = world.worker(i).state();
  archive_reader fields{bytes, {}};
  std::map<std::uint64_t, std::pair<std::vector<rank>, std::pair<vec, double>>> under_way;
  fields(t)(k.x)(k.z)(k.w)(view)(whole);
  if (overlap > 0)
    fields(under_way);
  fields(encodings);
  fields.finish();
  EXPECT_EQ(under_way.size(), overlap);
  for (const auto& [step, share] : under_way)
    for (std::size_t receiver = 0; receiver < share.first.size(); ++receiver) {
      k.x += static_cast<float>(share.second.second) * share.second.first;
      k.w += share.second.second;
    }
  return k;
}

// With any codec: what a sender gives away is what the receiver gets.
TEST(sgp, conserves_the_sums_of_models_and_weights) {
  for (const auto& c : cases)
    for (const char* codec : {"identity", "uniform:bits=8", "top-k:fraction=0.1"}) {
      quadratics p{c.workers, size, 1};
      numbers applied(size);
      tiny_world world{{.topology = *c.topology == '\0' ? "ring" : c.topology,
                        .codec = codec,
                        .workers = c.workers,
                        .steps = 50,
                        .lr = lr},
                       runs(c.algorithm, p.start()),
                       [&, of = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                         vec g = of(i, t, x);
                         for (std::size_t k = 0; k < size; ++k)
                           applied[k] -= lr * static_cast<double>(g[k]);
                         return g;
                       }};
      ASSERT_TRUE(world.run());
      numbers sum(size);
      double weights = 0;
      for (rank i = 0; i < c.workers; ++i) {
        const auto has = state_of(world, i, c.overlap);
        weights += has.w;
        EXPECT_GT(has.w, 0);
        for (std::size_t k = 0; k < size; ++k)
          sum[k] += static_cast<double>(has.x[k]);
      }
      EXPECT_NEAR(weights, static_cast<double>(c.workers), 1e-9) << c.algorithm;
      for (std::size_t k = 0; k < size; ++k)
        EXPECT_NEAR(sum[k], applied[k], 2e-4 * (1 + std::abs(applied[k]))) << c.algorithm << ", " << codec;
    }
}

/// Gradients in the first step alone, so that workers begin to average from different points.
tiny_world::gradient_of first_step_only(quadratics& p) {
  return [of = p.gradients()](rank i, std::uint64_t t, const vec& x) { return t == 0 ? of(i, t, x) : zeros_like(x); };
}

/// Returns the greatest distance of an element of a worker's model, or of its x, from the mean of the points.
double from_mean(const sgp_case& c, std::uint64_t steps, bool biased = false) {
  quadratics p{c.workers, size, 1};
  numbers mean(size);
  for (std::size_t i = 0; i < c.workers; ++i) {
    const auto g = p.gradient(i, 0, std::vector<float>(size));
    for (std::size_t k = 0; k < size; ++k)
      mean[k] -= lr * static_cast<double>(g[k]) / static_cast<double>(c.workers);
  }
  tiny_world world{
      {.topology = *c.topology == '\0' ? "ring" : c.topology, .workers = c.workers, .steps = steps, .lr = lr},
      runs(c.algorithm, p.start()),
      first_step_only(p)};
  EXPECT_TRUE(world.run());
  double greatest = 0;
  for (rank i = 0; i < c.workers; ++i) {
    const auto has = state_of(world, i, c.overlap);
    for (std::size_t k = 0; k < size; ++k)
      greatest = std::max(greatest, std::abs(static_cast<double>((biased ? has.x : has.z)[k]) - mean[k]));
  }
  return greatest;
}

TEST(sgp, of_a_power_of_two_workers_agrees_on_the_mean_after_its_logarithm_of_steps) {
  for (const std::size_t workers : {4u, 8u, 16u}) {
    const auto steps = static_cast<std::uint64_t>(std::countr_zero(workers));
    EXPECT_LT(from_mean({"sgp", workers, "", 0}, steps), 1e-6) << workers;
    EXPECT_GT(from_mean({"sgp", workers, "", 0}, steps - 1), 1e-3) << workers;
  }
}

TEST(sgp, agrees_on_the_mean_whatever_the_graph_and_the_drops) {
  for (const auto& c : cases)
    EXPECT_LT(from_mean(c, 300), 2e-6) << c.algorithm << ' ' << c.topology;
}

// On a star the hub gets more than it gives: x alone tends to another point.
TEST(sgp, needs_the_weights_where_workers_get_more_than_they_give) {
  EXPECT_GT(from_mean({"sgp:graph=topology", 6, "star", 0}, 300, true), 0.05);
}

TEST(sgp, is_d_psgd_where_the_weights_of_the_graph_are_symmetric) {
  for (const char* topology : {"ring", "complete"}) {
    quadratics p{6, size, 0.3f};
    const tiny_world::options o{.topology = topology, .workers = 6, .steps = 100};
    tiny_world push{o, runs("sgp:graph=topology", p.start()), p.gradients()};
    tiny_world gossip{o, runs("d-psgd:order=adapt-then-combine", p.start()), p.gradients()};
    ASSERT_TRUE(push.run() && gossip.run());
    for (rank i = 0; i < 6; ++i)
      EXPECT_LT(squared_distance(push.model(i).view(), gossip.model(i).view()), 1e-9) << topology;
  }
}

TEST(sgp, sends_a_model_and_a_weight_to_each_receiver) {
  for (const char* codec : {"identity", "uniform:bits=8"}) {
    const auto bits = compress::make_codec(codec)->bits(size) + 32;
    quadratics p{6, size};
    auto one = world_of({"sgp", 6, "", 0}, p, 10, codec);
    auto star = world_of({"sgp:graph=topology", 6, "star", 0}, p, 10, codec);
    ASSERT_TRUE(one.run() && star.run());
    EXPECT_EQ(one.sent(0).payload_bits, 10 * bits) << codec;
    EXPECT_EQ(star.sent(0).payload_bits, 10 * 5 * bits) << codec;
    EXPECT_EQ(star.sent(1).payload_bits, 10 * bits) << codec;
  }
}

// A gradient takes 10 ms, and a share 15 ms. A share leaves behind the gradient of its step, and is added behind that
// of tau steps later: tau + 1 steps take as long as both together.
TEST(sgp, hides_the_way_of_its_shares_behind_gradients) {
  const auto seconds_of_a_step = [](const char* algorithm) {
    run_settings s;
    s.algorithm = algorithm;
    s.model = "quadratic:mu=0.3";
    s.data = "quadratic:samples=400,dim=10,noise=0.3";
    s.workers = 8;
    s.batch = 10;
    s.steps = s.eval_every = 100;
    simulation_settings slow;
    slow.network = "uniform:latency=15ms,bandwidth=10Gb/s";
    slow.sample_time_s = 0.001;
    return simulate(prepare(s), slow).summary.final.time_s / 100;
  };
  EXPECT_NEAR(seconds_of_a_step("sgp"), 0.025, 0.0005);
  EXPECT_NEAR(seconds_of_a_step("sgp:overlap=1"), 0.0125, 0.0005);
  EXPECT_NEAR(seconds_of_a_step("sgp:overlap=2"), 0.010, 0.0005);
}

// What came at the end is in the model that was evaluated, and not in the state.
TEST(sgp, goes_on_from_its_end_as_if_there_had_been_none) {
  for (const auto& c : cases) {
    quadratics p{c.workers, size, 0.3f};
    auto whole = world_of(c, p, 40), first_half = world_of(c, p, 20);
    ASSERT_TRUE(whole.run() && first_half.run());
    tiny_world::options o{
        .topology = *c.topology == '\0' ? "ring" : c.topology, .workers = c.workers, .steps = 40, .lr = lr};
    for (rank i = 0; i < c.workers; ++i)
      o.saved[i] = std::make_shared<const std::vector<std::byte>>(first_half.worker(i).state());
    o.done = 20 * c.workers;
    tiny_world second_half{o, runs(c.algorithm, p.start()), p.gradients()};
    ASSERT_TRUE(second_half.run());
    for (rank i = 0; i < c.workers; ++i)
      EXPECT_EQ(second_half.model(i), whole.model(i)) << c.algorithm << ' ' << c.topology << ", worker " << i;
  }
}

// Nothing comes in the first tau steps, while each of them halves the weight.
TEST(sgp, bears_the_longest_overlap) {
  quadratics p{4, size};
  tiny_world world{{.workers = 4, .steps = 100, .lr = 1e-13}, runs("sgp:overlap=32", p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < 4; ++i)
    for (const float z : world.model(i).view())
      ASSERT_NEAR(z, 0, 0.01f);
  EXPECT_THROW(runs("sgp:overlap=33", p.start())(0), error);
}

TEST(sgp, sends_one_way) {
  quadratics p{8, size};
  auto world = world_of({"sgp", 8, "", 0}, p, 12);
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < 8; ++i)
    for (rank j = 0; j < 8; ++j) {
      const auto places = (j + 8 - i) % 8;
      EXPECT_EQ(world.frames_from_to(i, j), places == 1 || places == 2 || places == 4 ? 2 * 4u : 0u) << i << ' ' << j;
    }
}

TEST(sgp, drops_as_many_shares_as_it_is_told) {
  quadratics p{2, 1};
  auto world = world_of({"sgp:drop=0.2", 2, "", 0.2}, p, 2000);
  ASSERT_TRUE(world.run());
  const auto arrived = static_cast<double>(world.frames_from_to(0, 1)) / 2 / 2000;
  EXPECT_NEAR(arrived, 0.8, 5 * std::sqrt(0.16 / 2000));
}

} // namespace
} // namespace gossamer::actors
