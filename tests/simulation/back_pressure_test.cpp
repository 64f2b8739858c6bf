// Frames under way from one worker to another stay bounded, also if an algorithm waits for no other worker. No
// algorithm waits for ever, at any bound.
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/effort.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include "push_gossip.hpp"
#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing_support::push_gossip;

constexpr std::uint64_t steps = 200;
constexpr std::uint64_t unbounded = 1'000'000'000, frame_bytes = 4 * 1000 + 30; // a model of 1000 parameters

struct evaluations final : run_observer {
  void on_evaluation(const evaluation_record& r) override { records.push_back(r); }
  std::vector<evaluation_record> records;
};

/// A ring of four whose gradients take 1 ms. A model takes 32 ms on each of the two links that lead to worker 1.
struct gossip {
  gossip(const std::string& algorithm, std::uint64_t under_way) {
    auto s = testing_support::quadratic_run(algorithm, 4, steps);
    s.under_way = under_way;
    simulation_settings world;
    world.network = "uniform:latency=0.001,bandwidth=1e9";
    world.links = "all-to-1:bandwidth=1e6";
    world.sample_time_s = 1e-4;
    push_gossip::count_anew();
    evaluations seen;
    summary = simulate(prepare(s, {.algorithms = testing_support::push_gossips()}), world, {.observer = &seen}).summary;
    first_loss = seen.records.front().train_loss;
  }
  run_summary summary;
  double first_loss;
};

TEST(push_gossip, fills_the_memory_where_nothing_holds_it_up) {
  const gossip g{"push-gossip", unbounded};
  EXPECT_GT(push_gossip::most_under_way(), 0.4 * steps) << "more, the longer it runs";
}

TEST(push_gossip, keeps_a_short_queue_and_learns_because_its_steps_wait) {
  constexpr std::int64_t models = 4;
  const gossip g{"push-gossip", models * frame_bytes};
  EXPECT_GT(push_gossip::most_under_way(), 1);
  EXPECT_LE(push_gossip::most_under_way(), models + 1);
  EXPECT_LT(g.summary.final.train_loss, 0.8 * g.first_loss);
  EXPECT_LT(g.summary.steps_per_worker[0], g.summary.steps_per_worker[3] / 2) << "it sends over a slow link";
}

TEST(push_gossip, need_not_wait_for_a_slow_link_where_it_leaves_out_who_has_no_room) {
  constexpr std::int64_t models = 4;
  const gossip g{"polite-gossip", models * frame_bytes};
  EXPECT_GT(push_gossip::most_under_way(), 1);
  EXPECT_LE(push_gossip::most_under_way(), models / 2 + 1);
  EXPECT_LT(g.summary.final.train_loss, 0.8 * g.first_loss);
  for (const auto each : g.summary.steps_per_worker)
    EXPECT_NEAR(static_cast<double>(each), steps, 0.05 * steps);
}

class every_algorithm_under_pressure : public testing::TestWithParam<std::string> {
protected:
  std::shared_ptr<const experiment> run(std::optional<std::uint64_t> under_way) const {
    auto s = testing_support::quadratic_run(GetParam(), 6, 60);
    s.optimiser = testing_support::optimiser_for(GetParam(), "sgd");
    s.data = "quadratic:samples=400,dim=20";
    s.under_way = under_way;
    return prepare(s);
  }
};

TEST_P(every_algorithm_under_pressure, never_waits_for_room_by_default) {
  EXPECT_EQ(simulate(run(std::nullopt), {}).hash, simulate(run(unbounded), {}).hash);
}

TEST_P(every_algorithm_under_pressure, ends_though_each_step_waits_for_all_that_was_sent) {
  // An algorithm that averages without a pause always has a frame under way. With room for less than two exchanges it
  // would learn nothing between them.
  const std::uint64_t most = GetParam().ends_with("continuous") ? 500 : 1;
  EXPECT_EQ(simulate(run(most), {}).summary.end, run_end::planned);
  const auto horizon = 0.5 * simulate(run(std::nullopt), {}).summary.final.time_s;
  for (std::uint64_t seed = 1; seed <= test::tries(20); ++seed) {
    const auto e = run(most);
    const auto plan = draw_plan(seed, {.workers = 6, .masters = e->masters, .horizon_s = horizon});
    simulation_settings world;
    world.interleaving = seed;
    world.detection_s = 0.002;
    try {
      simulate(e, world, {.faults = plan});
    } catch (const error& broken) {
      ADD_FAILURE() << "plan " << seed << ": " << broken.what() << '\n' << to_toml(plan);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(registry, every_algorithm_under_pressure, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

} // namespace
} // namespace gossamer::actors
