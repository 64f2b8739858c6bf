// Connections that break at random bytes, in the middle of reductions too, change nothing: a run in which all frames
// cross them has the same events, to the bit, as the run without them.
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/effort.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gtest/gtest.h>

#include "lawful_run.hpp"
#include "torn_link.hpp"

namespace gossamer::actors {
namespace {

const std::uint64_t plans = gossamer::test::tries(5);

struct tearing {
  std::uint64_t seed;
  std::uint64_t breaks = 0;

  link_wrapper wrapper() {
    return [this](rank from, rank to, std::unique_ptr<link> inner) {
      return std::make_unique<testing_support::torn_link>(std::move(inner), from, to, seed, breaks);
    };
  }
};

/// @returns number of connections that broke
std::uint64_t expect_the_same(const std::shared_ptr<const experiment>& e, const fault_plan& plan, std::uint64_t seed) {
  simulation_settings quick;
  quick.detection_s = 0.002;
  tearing torn{seed};
  const auto whole = simulate(e, quick, {.faults = plan});
  const auto result = simulate(e, quick, {.faults = plan, .wrap_link = torn.wrapper()});
  EXPECT_EQ(result.hash, whole.hash) << "seed " << seed << '\n' << to_toml(plan);
  EXPECT_EQ(result.events, whole.events);
  EXPECT_EQ(result.summary.final.wire_bits, whole.summary.final.wire_bits);
  EXPECT_EQ(result.summary.final.train_loss, whole.summary.final.train_loss);
  return torn.breaks;
}

class every_synchronous_algorithm : public testing::TestWithParam<std::string> {};

TEST_P(every_synchronous_algorithm, is_the_same_where_connections_break_under_random_faults) {
  auto settings = testing_support::lawful_run(GetParam());
  settings.steps = 60 * (prepare(settings)->make_algorithm()->next_exchange(0) + 1); // 60 rounds
  const auto e = prepare(settings);
  const auto horizon = 0.5 * simulate(e, {}).summary.final.time_s;
  std::uint64_t breaks = 0;
  for (std::uint64_t seed = 1; seed <= plans && !HasFailure(); ++seed) {
    const auto plan = draw_plan(seed, {.workers = settings.workers, .masters = e->masters, .horizon_s = horizon});
    breaks += expect_the_same(e, plan, seed);
  }
  EXPECT_GT(breaks, 100 * plans);
}

std::vector<std::string> synchronous_spellings() {
  auto all = testing_support::every_spelling();
  std::erase_if(all, [](const auto& text) { return !algorithms().find(spec::parse(text).name).traits.synchronous; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(all, every_synchronous_algorithm, testing::ValuesIn(synchronous_spellings()),
                         [](const auto& one) { return testing_support::as_test_name(one.param); });

TEST(a_long_sum, is_the_same_where_connections_break_within_its_slices) {
  for (const char* algorithm :
       {"all-reduce-sgd", "all-reduce-sgd:collective=halving", "all-reduce-sgd:collective=direct", "marsit", "ssdm"}) {
    auto settings = testing_support::lawful_run(algorithm);
    settings.data = "quadratic:samples=8,dim=1300000"; // segments of several slices, slices of several chunks
    settings.workers = 4;
    settings.batch = 1;
    settings.steps = 3;
    EXPECT_GT(expect_the_same(prepare(settings), {}, 1), 20u) << algorithm;
  }
}

} // namespace
} // namespace gossamer::actors
