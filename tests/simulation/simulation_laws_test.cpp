// Laws of every algorithm in the simulated world under all kinds of faults. A new algorithm inherits all of them.
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/effort.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include <set>

#include "lawful_run.hpp"

namespace gossamer::actors {
namespace {

using testing_support::evaluations;
using testing_support::growing_run;

constexpr std::size_t workers = 8;
const std::uint64_t plans = test::tries(20), interleavings = test::tries(20); // `gossamer simulate --seeds` tries more

std::shared_ptr<const experiment> small_run(const std::string& algorithm, std::uint64_t seed = 1) {
  return prepare(testing_support::lawful_run(algorithm, seed));
}

simulation_settings quick() {
  simulation_settings s;
  s.detection_s = 0.002;
  return s;
}

/// Returns half of the time that the run takes without faults.
double horizon_of(const std::string& algorithm) {
  return 0.5 * simulate(small_run(algorithm), quick()).summary.final.time_s;
}

class every_algorithm_simulated : public testing::TestWithParam<std::string> {};

TEST_P(every_algorithm_simulated, repeats_itself_and_tells_seeds_and_interleavings_apart) {
  const double horizon = horizon_of(GetParam());
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed : {1u, 2u})
    for (std::uint64_t interleaving : {0u, 1u, 2u}) {
      const auto e = small_run(GetParam(), seed);
      auto s = quick();
      s.interleaving = interleaving;
      s.jitter = "exponential";
      const run_surroundings around{
          .faults = draw_plan(seed, {.workers = workers, .masters = e->masters, .horizon_s = horizon})};
      const auto first = simulate(e, s, around), second = simulate(e, s, around);
      EXPECT_EQ(first.hash, second.hash);
      EXPECT_EQ(first.events, second.events);
      EXPECT_EQ(first.summary.final.train_loss, second.summary.final.train_loss);
      hashes.insert(first.hash);
    }
  EXPECT_EQ(hashes.size(), 6u);
}

TEST_P(every_algorithm_simulated, survives_random_faults_and_learns_when_they_are_over) {
  const double horizon = horizon_of(GetParam());
  std::uint64_t lost = 0, returned = 0, frames_lost = 0;
  for (std::uint64_t seed = 1; seed <= plans; ++seed) {
    const bool churn = seed % 2 == 0; // workers also come and leave
    const auto e = churn ? growing_run(GetParam()) : small_run(GetParam());
    const auto plan = draw_plan(seed, {.workers = e->settings.worker_ranks(),
                                       .masters = e->masters,
                                       .horizon_s = horizon,
                                       .comers = churn ? testing_support::comers : 0});
    evaluations seen;
    try {
      const auto result = simulate(e, quick(), {.observer = &seen, .faults = plan});
      lost += result.summary.lost;
      returned += result.summary.returned;
      frames_lost += result.frames_lost + result.frames_rejected;
      if (e->algorithm->converges()) {
        EXPECT_LT(result.summary.final.train_loss, 0.8 * seen.records.front().train_loss) << to_toml(plan);
      }
    } catch (const error& broken) {
      ADD_FAILURE() << "plan " << seed << ": " << broken.what() << '\n' << to_toml(plan);
    }
  }
  EXPECT_GT(frames_lost, plans);
  if (!test::tries_all())
    return;
  EXPECT_GT(lost, plans / 3);
  EXPECT_GT(returned, plans / 6);
}

TEST_P(every_algorithm_simulated, survives_kills_under_every_interleaving_that_is_tried) {
  const auto e = small_run(GetParam());
  const double horizon = horizon_of(GetParam());
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::kill, .workers = {1}, .at_s = 0.2 * horizon, .lasts_s = 0.1 * horizon});
  plan.faults.push_back({.kind = fault_kind::kill, .workers = {2, 5}, .at_s = 0.25 * horizon});
  plan.faults.push_back({.kind = fault_kind::drop, .at_s = 0.2 * horizon, .lasts_s = 0.3 * horizon, .rate = 0.2});
  std::set<std::uint64_t> hashes;
  for (std::uint64_t interleaving = 1; interleaving <= interleavings; ++interleaving) {
    auto s = quick();
    s.interleaving = interleaving;
    s.jitter = "exponential";
    s.network = "tang-best:jitter=0.0001";
    try {
      const auto result = simulate(e, s, {.faults = plan});
      hashes.insert(result.hash);
      EXPECT_EQ(result.summary.lost, 3u);
      EXPECT_EQ(result.summary.returned, 1u);
    } catch (const error& broken) {
      ADD_FAILURE() << "interleaving " << interleaving << ": " << broken.what();
    }
  }
  EXPECT_EQ(hashes.size(), interleavings);
}

TEST_P(every_algorithm_simulated, goes_on_after_a_partition_has_healed) {
  const auto e = small_run(GetParam());
  const double horizon = horizon_of(GetParam());
  for (const bool one_way : {false, true}) {
    fault_plan plan;
    plan.faults.push_back({.kind = fault_kind::partition,
                           .workers = {0, 1, 2},
                           .at_s = 0.2 * horizon,
                           .lasts_s = 2.0,
                           .one_way = one_way});
    const auto result = simulate(e, quick(), {.faults = plan});
    EXPECT_EQ(result.summary.end, run_end::planned);
    EXPECT_EQ(result.summary.lost, 0u);
    EXPECT_GT(result.frames_lost, 0u);
  }
}

TEST_P(every_algorithm_simulated, lets_workers_come_and_leave) {
  testing_support::events seen;
  const double horizon = horizon_of(GetParam());
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::join, .workers = {8, 9}, .at_s = 0.1 * horizon});
  plan.faults.push_back({.kind = fault_kind::leave, .workers = {3, 8}, .at_s = 0.4 * horizon});
  const auto result = simulate(growing_run(GetParam()), quick(), {.observer = &seen, .faults = plan});
  for (const char* what : {"worker 8 comes", "worker 9 comes", "worker 3 has left", "worker 8 has left"})
    EXPECT_THAT(seen.all(), testing::Contains(testing::StartsWith(what)));
  EXPECT_EQ(result.summary.lost, 0u);
  EXPECT_EQ(result.summary.end, run_end::planned);
}

TEST_P(every_algorithm_simulated, ends_with_one_error_when_everybody_has_died) {
  const auto e = small_run(GetParam());
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::kill,
                         .workers = {0, 1, 2, 3, 4, 5, 6, 7},
                         .at_s = 0.3 * horizon_of(GetParam()),
                         .lasts_s = 1.0});
  try {
    simulate(e, quick(), {.faults = plan});
    FAIL();
  } catch (const error& over) {
    EXPECT_EQ(over.code(), errc::failed);
    EXPECT_THAT(over.what(), testing::HasSubstr("every worker that had the model has died"));
  }
}

INSTANTIATE_TEST_SUITE_P(registry, every_algorithm_simulated, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

} // namespace
} // namespace gossamer::actors
