// Runs whose workers live on islands, while some of them are lost.
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include "expect.hpp"
#include "lawful_run.hpp"
#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::refusal;

const simulation_settings quick{.sample_time_s = 1e-4, .detection_s = 0.003};

run_settings on_islands(const std::string& algorithm, const std::string& islands) {
  auto s = testing_support::lawful_run(algorithm);
  s.islands = islands;
  return s;
}

struct loss {
  std::vector<rank> workers;
  std::optional<double> back_after_s;
};

class islands_that_lose : public testing::TestWithParam<const char*> {};

TEST_P(islands_that_lose, a_head_or_all_workers_go_on) {
  for (const auto& lost : {loss{{0}, std::nullopt}, loss{{0}, 0.05}, loss{{3, 4, 5}, std::nullopt},
                           loss{{3, 4, 5}, 0.05}, loss{{1, 7}, std::nullopt}}) {
    run_surroundings around;
    around.faults.faults.push_back({.workers = lost.workers, .at_step = 31, .lasts_s = lost.back_after_s});
    testing_support::evaluations seen;
    around.observer = &seen;
    const auto result = simulate(prepare(on_islands(GetParam(), "3,3,2")), quick, around);
    EXPECT_EQ(result.summary.lost, lost.workers.size());
    EXPECT_EQ(result.summary.returned, lost.back_after_s ? lost.workers.size() : 0);
    EXPECT_LT(result.summary.final.train_loss, 0.8 * seen.records.front().train_loss);
  }
}

TEST_P(islands_that_lose, anything_at_random_survive) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto s = on_islands(GetParam(), seed % 2 == 0 ? "2" : "1,5,2");
    s.max_workers = s.workers + testing_support::comers;
    const auto e = prepare(s);
    const auto plan =
        draw_plan(seed, {.workers = e->settings.worker_ranks(), .horizon_s = 0.2, .comers = testing_support::comers});
    try {
      simulate(e, quick, {.faults = plan});
    } catch (const error& broken) {
      ADD_FAILURE() << "plan " << seed << ": " << broken.what() << '\n' << to_toml(plan);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, islands_that_lose,
                         testing::Values("local-sgd:period=6", "diloco:period=6", "noloco:period=6", "d-psgd",
                                         "ad-psgd", "ad-psgd:owed=1"),
                         [](const auto& one) { return testing_support::as_test_name(one.param); });

/// Payload between two islands of two workers each, in bits of a model and for each round.
std::optional<double> models_between_islands(const std::string& algorithm, const std::string& islands,
                                             const std::string& network) {
  constexpr std::uint64_t dimension = 1000, rounds = 3, period = 4;
  auto s = testing_support::quadratic_run(algorithm, 4, rounds * period);
  s.islands = islands;
  const auto bits = simulate(prepare(s), {.network = network}).summary.final.payload_bits_between_islands;
  return bits ? std::optional{static_cast<double>(*bits) / (32 * dimension * rounds)} : std::nullopt;
}

TEST(payload_between_islands, is_what_their_heads_exchange) {
  // A ring of n workers: each sends 2 (n - 1) / n models to the next.
  EXPECT_EQ(models_between_islands("diloco:period=4", "2", "islands:count=2"), 2 * 1.0) << "two heads";
  EXPECT_EQ(models_between_islands("diloco:period=4", "", "islands:count=2"), 2 * 1.5) << "two of four workers";
  EXPECT_EQ(models_between_islands("local-sgd:period=1", "", "islands:count=2"), 4 * 2 * 1.5) << "every step";
  EXPECT_EQ(models_between_islands("diloco:period=4", "2", "islands:count=1"), 0) << "there is no other";
  EXPECT_EQ(models_between_islands("diloco:period=4", "2", "uniform"), 2 * 1.0) << "those of the run";
  EXPECT_EQ(models_between_islands("diloco:period=4", "4", "islands:count=2"), 2 * 1.5) << "those of the network";
  EXPECT_EQ(models_between_islands("diloco:period=4", "", "uniform"), std::nullopt) << "there are none";
}

TEST(islands_setting, is_refused_by_algorithms_without_islands_and_where_sizes_are_wrong) {
  const auto refused = [](const char* algorithm, const char* islands) {
    return refusal([&] { prepare(on_islands(algorithm, islands)); });
  };
  EXPECT_THAT(refused("dcd-psgd", "2"),
              AllOf(HasSubstr("dcd-psgd knows no islands"), HasSubstr("ad-psgd, d-psgd, diloco, local-sgd, noloco")));
  EXPECT_THAT(refusal([] { simulate(prepare(on_islands("d-psgd:order=adapt-then-combine", "2")), quick); }),
              HasSubstr("order=adapt-then-combine"));
  EXPECT_THAT(refused("diloco", "3,4"), HasSubstr("--islands is 3,4: 7 workers, but there are 8"));
  EXPECT_THAT(refused("diloco", "9"), HasSubstr("--islands is 9, but there are 8 workers"));
  EXPECT_THAT(refused("diloco", "hosts"), HasSubstr("which launch and simulate know"));
}

} // namespace
} // namespace gossamer::actors
