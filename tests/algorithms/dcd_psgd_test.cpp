#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::final_gap;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t workers = 6, size = 50;

/// A worker's model and replicas after some steps.
struct knowledge {
  vec own;
  std::map<rank, vec> replicas; ///< replicas of the neighbours before the last step
};

std::vector<knowledge> after(std::uint64_t steps, const char* codec) {
  quadratics problem{workers, size, 1};
  tiny_world world{{.topology = "ring", .codec = codec, .workers = workers, .steps = steps},
                   runs("dcd-psgd", problem.start()),
                   problem.gradients()};
  EXPECT_TRUE(world.run());
  std::vector<knowledge> result(workers);
  for (rank i = 0; i < workers; ++i) {
    const auto state = world.worker(i).state();
    archive_reader{state, {}}(result[i].own)(result[i].replicas);
    EXPECT_EQ(result[i].own, world.model(i));
  }
  return result;
}

TEST(dcd_psgd, replicas_are_what_their_owners_have_to_the_bit) {
  for (const char* codec : {"min-max:bits=8", "uniform:bits=4", "random-p:p=0.8", "top-k", "identity"})
    for (const std::uint64_t steps : {2u, 3u, 100u, 1000u}) {
      const auto before = after(steps - 1, codec), now = after(steps, codec);
      for (rank i = 0; i < workers; ++i) {
        EXPECT_EQ(now[i].replicas.size(), 2u);
        for (const auto& [j, replica] : now[i].replicas)
          EXPECT_TRUE(replica == before[j].own) << codec << ", step " << steps << ": " << j << " as seen by " << i;
      }
    }
}

// The auditor compares the claims of all holders of a replica in every step.
TEST(dcd_psgd, keeps_replicas_equal_through_a_thousand_steps_and_losses_on_the_way) {
  for (const char* algorithm : {"dcd-psgd", "ecd-psgd", "ecd-psgd:refresh=10"}) {
    run_settings s;
    s.algorithm = algorithm;
    s.model = "quadratic";
    s.data = "quadratic:samples=400,dim=20";
    s.workers = 8;
    s.topology = "exponential";
    s.batch = 4;
    s.steps = 1000;
    s.lr = 0.02;
    fault_plan plan;
    plan.faults.push_back({.kind = fault_kind::kill, .workers = {1, 4}, .at_s = 0.02, .lasts_s = 0.05});
    plan.faults.push_back({.kind = fault_kind::kill, .workers = {2}, .at_s = 0.03});
    plan.faults.push_back({.kind = fault_kind::drop, .at_s = 0.01, .lasts_s = 0.1, .rate = 0.1});
    simulation_settings quick;
    quick.detection_s = 0.002;
    const auto result = simulate(prepare(s), quick, {.faults = plan});
    EXPECT_EQ(result.summary.lost, 3u);
    EXPECT_EQ(result.summary.returned, 2u);
  }
}

TEST(dcd_psgd, converges_below_a_relative_error_of_one_and_diverges_well_above) {
  const auto gap = [](const char* codec) {
    return final_gap("dcd-psgd", {.codec = codec, .workers = 8, .steps = 1000, .lr = 0.05}, 0.1f);
  };
  EXPECT_LT(gap("random-p:p=0.8"), 0.01);
  EXPECT_GT(gap("random-p:p=0.25"), 1e3);
  EXPECT_LT(gap("random-p:p=0.25,scale=none"), 0.02); // biased, but the difference does not blow up
  EXPECT_LT(gap("top-k"), 0.02);
}

} // namespace
} // namespace gossamer::actors
