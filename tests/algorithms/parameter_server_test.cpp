// Parameter servers against loops without actors.
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "actors/small_run.hpp"
#include "gossip_problem.hpp"
#include "usage_error.hpp"

namespace gossamer::actors {

namespace {

using testing::HasSubstr;
using testing_support::quadratics;
using testing_support::tiny_world;

constexpr std::size_t size = 23, workers = 4;

tiny_world world_of(const std::string& algorithm, quadratics& p, tiny_world::options o) {
  const auto& entry = algorithms().find(spec::parse(algorithm).name);
  const auto given = std::make_shared<arguments>("algorithm", entry.about, spec::parse(algorithm));
  o.masters = entry.masters(*given);
  o.synchronous = false;
  o.equal_steps = entry.traits.equal_steps;
  return {o,
          [&entry, given, o, &p](rank i) {
            const algorithm_setup setup{
                .given = *given, .initial = p.start(), .master = i < o.workers ? 0 : i - o.workers};
            return i < o.workers ? entry.make(setup) : entry.make_master(setup);
          },
          p.gradients()};
}

std::vector<float> model_of(const tiny_world& world, std::size_t masters) {
  std::vector<float> whole;
  for (std::size_t k = 0; k < masters; ++k)
    for (const float x : world.model(static_cast<rank>(workers + k)).view())
      whole.push_back(x);
  return whole;
}

TEST(parameter_server_sgd, averages_all_gradients_of_a_round_in_the_order_of_ranks) {
  for (const std::size_t shards : {1u, 3u, 30u}) {
    quadratics p{workers, size, 0.5f};
    auto world = world_of("parameter-server-sgd:shards=" + std::to_string(shards), p,
                          {.workers = workers, .steps = 30, .lr = 0.1});
    ASSERT_TRUE(world.run());
    std::vector<float> x(size);
    for (std::uint64_t t = 0; t < 30; ++t) {
      std::vector<float> sum(size);
      for (std::size_t i = 0; i < workers; ++i) {
        const auto g = p.gradient(i, t, x);
        for (std::size_t k = 0; k < size; ++k)
          sum[k] += g[k];
      }
      for (std::size_t k = 0; k < size; ++k)
        x[k] -= 0.1f * (sum[k] * 0.25f);
    }
    EXPECT_EQ(model_of(world, shards), x) << shards << " shards";
  }
}

TEST(parameter_server_sgd, sends_one_gradient_up_and_one_model_down_a_step) {
  quadratics p{workers, size};
  auto world = world_of("parameter-server-sgd:shards=2", p, {.workers = workers, .steps = 30});
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < workers; ++i)
    EXPECT_EQ(world.sent(i).payload_bits, 30 * 32 * size);
  EXPECT_EQ(world.sent(workers).payload_bits + world.sent(workers + 1).payload_bits, workers * 30 * 32 * size);
}

// Worker 3 comes back between the ends of a round at the two masters. From then on the masters have it in different
// rounds, so some workers wait for one master and some for the other. Then the second master dies, and all workers must
// ask it again.
TEST(parameter_server_sgd, goes_on_when_masters_die_one_after_the_other) {
  run_settings s;
  s.algorithm = "parameter-server-sgd:shards=2";
  s.model = "quadratic";
  s.data = "quadratic:samples=402,dim=10";
  s.workers = workers;
  s.batch = 20;
  s.steps = 200;
  s.lr = 0.02;
  const auto e = prepare(s);
  const auto dead_from = [](std::vector<rank> who, double at_s) {
    return fault{.kind = fault_kind::kill, .workers = std::move(who), .at_s = at_s, .lasts_s = 0.001};
  };
  fault_plan plan;
  plan.faults = {dead_from({3, 4}, 0.005), dead_from({5}, 0.015)};
  simulation_settings quick;
  quick.detection_s = 0.002;
  const auto result = simulate(e, quick, {.faults = plan}); // throws if the run fails
  EXPECT_EQ(result.summary.returned, 3u);
}

/// The updates between the reading of a model and the application of its gradient, as the links show them.
class staleness_meter {
public:
  tiny_world::options options(std::uint64_t seed) {
    return {.workers = workers,
            .steps = 60,
            .lr = 0.05,
            .seed = seed,
            .on_send =
                [this](rank to, const frame& f) {
                  if (f.label.kind == frame_kind::reply && f.body.elements > 0)
                    read_[to] = updates_;
                },
            .on_delivery =
                [this](rank, const frame& f) {
                  if (f.label.kind == frame_kind::request && f.body.elements > 0)
                    seen_.push_back(updates_++ - read_[f.source]);
                },
            .on_gradient_applied = [this](rank, std::uint64_t staleness) { reported_.push_back(staleness); }};
  }
  std::uint64_t most() const { return *std::ranges::max_element(seen_); }
  /// Returns the staleness of each gradient, in the order of application.
  const std::vector<std::uint64_t>& seen() const { return seen_; }
  const std::vector<std::uint64_t>& reported() const { return reported_; }

private:
  std::uint64_t updates_ = 0;
  std::vector<std::uint64_t> seen_, reported_;
  std::map<rank, std::uint64_t> read_;
};

TEST(async_sgd, applies_each_gradient_when_it_comes) {
  quadratics p{workers, size, 0.1f};
  staleness_meter meter;
  auto world = world_of("async-sgd", p, meter.options(1));
  ASSERT_TRUE(world.run());
  EXPECT_GT(meter.most(), workers - 1);
  const auto x = world.model(workers).view();
  EXPECT_LT(p.gap({x.begin(), x.end()}), 0.05);
}

TEST(async_sgd, keeps_the_bound_on_staleness_whatever_the_timing) {
  for (const std::uint64_t bound : {0u, 1u, 2u, 3u, 7u}) {
    std::uint64_t most = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      quadratics p{workers, size, 0.1f};
      staleness_meter meter;
      auto world = world_of("async-sgd:staleness=" + std::to_string(bound), p, meter.options(seed));
      ASSERT_TRUE(world.run()) << "seed " << seed;
      EXPECT_LE(meter.most(), bound) << "seed " << seed;
      most = std::max(most, meter.most());
    }
    EXPECT_GE(most, std::min<std::uint64_t>(bound, 3)) << "the bound is never reached";
  }
}

TEST(async_sgd, reports_the_staleness_that_the_links_show) {
  for (const char* algorithm : {"async-sgd", "async-sgd:staleness=0", "async-sgd:staleness=2"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      quadratics p{workers, size, 0.1f};
      staleness_meter meter;
      auto world = world_of(algorithm, p, meter.options(seed));
      ASSERT_TRUE(world.run());
      EXPECT_GE(meter.seen().size(), 60 * workers); // some more gradients were under way when these had been counted
      EXPECT_LT(meter.seen().size(), 61 * workers);
      EXPECT_EQ(meter.reported(), meter.seen()) << algorithm << ", seed " << seed;
    }
}

run_summary summary_of(const std::string& algorithm) {
  return simulate(small_run(algorithm, "ring", 6, 100), {}).summary;
}

using histogram = std::map<std::uint64_t, std::uint64_t>;

std::uint64_t count_of(const histogram& ages) {
  std::uint64_t count = 0;
  for (const auto& [age, gradients] : ages)
    count += gradients;
  return count;
}

TEST(staleness, is_within_the_bound_in_the_summary_of_a_run) {
  for (const std::uint64_t bound : {0u, 1u, 3u})
    for (const char* algorithm : {"async-sgd", "asy-fpg", "asy-lpg", "halp", "acc-asy-lpg"}) {
      const auto s = summary_of(algorithm + fmt::format(":staleness={}", bound));
      EXPECT_EQ(s.staleness.rbegin()->first, bound) << algorithm;
      EXPECT_EQ(count_of(s.staleness), s.final.step) << algorithm;
    }
}

TEST(staleness, is_about_the_number_of_the_other_workers_where_it_is_not_bounded) {
  for (const char* algorithm : {"async-sgd", "async-sgd:shards=3", "async-sgd:shards=20", "ad-psgd"}) {
    const auto s = summary_of(algorithm);
    EXPECT_EQ(count_of(s.staleness), s.final.step) << algorithm;
    EXPECT_GT(s.staleness.at(5), s.final.step * 9 / 10) << algorithm;
  }
}

TEST(staleness, is_zero_where_no_gradient_meets_a_model_that_another_has_changed) {
  for (const char* algorithm : {"parameter-server-sgd", "parameter-server-sgd:shards=2", "eamsgd"}) {
    const auto s = summary_of(algorithm);
    EXPECT_EQ(s.staleness, (histogram{{0, s.final.step}})) << algorithm;
  }
  EXPECT_TRUE(summary_of("d-psgd").staleness.empty());
}

/// A worker that returns reads a neighbour's present model, not one from before its own death.
TEST(staleness, of_a_worker_that_comes_back_is_counted_from_there) {
  simulation_settings quick;
  quick.detection_s = 1e-4;
  quick.network = "tang-best:latency=1e-5";
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::kill, .workers = {1}, .at_s = 0.0005, .lasts_s = 0.002});
  const auto s = simulate(small_run("ad-psgd", "ring", 4, 200), quick, {.faults = plan}).summary;
  EXPECT_EQ(s.returned, 1u);
  EXPECT_LT(s.staleness.rbegin()->first, 40u); // the worker was away for the time of 300 updates
}

TEST(async_sgd, bounds_staleness_at_one_master_only) {
  EXPECT_THAT(usage_error([] { small_run("async-sgd:staleness=2,shards=2", "ring", 4); }),
              HasSubstr("async-sgd bounds staleness at one master"));
}

} // namespace

} // namespace gossamer::actors
