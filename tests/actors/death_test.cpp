// Deaths and returns at every moment of small runs.
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include "marks.hpp"
#include "mortal_world.hpp"
#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing_support::death;
using testing_support::dwelling;
using testing_support::mortal_world;

std::string text_of(const std::vector<death>& deaths) {
  std::string text;
  for (const auto& d : deaths)
    text += "; worker " + std::to_string(d.who) + (d.leaves ? " leaves at event " : " dies at event ")
            + std::to_string(d.at)
            + (d.back_after ? " and is back " + std::to_string(*d.back_after) + " events later" : "");
  return text;
}

class every_algorithm : public testing::TestWithParam<const char*> {
protected:
  void expect_a_good_end(std::uint64_t seed, const std::vector<death>& deaths, dwelling where = dwelling::together) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << text_of(deaths));
    mortal_world world{e, seed, deaths, std::nullopt, where};
    ASSERT_TRUE(world.run()) << "somebody waits for ever";
    ASSERT_FALSE(world.broken()) << *world.broken();
    ASSERT_FALSE(world.extinct()) << "somebody who had a state lived on";
    const auto models = world.models();
    ASSERT_FALSE(models.empty());
    for (const auto* model : models)
      ASSERT_TRUE(!alike || *model == *models.front());
    events = world.events();
    retired += world.retired();
  }

  static constexpr std::size_t workers = 3;
  static std::shared_ptr<const experiment> run_of(std::uint64_t steps) {
    return small_run(GetParam(), std::string{GetParam()} == "ad-psgd" ? "star" : "ring", workers, steps);
  }
  std::shared_ptr<const experiment> e = run_of(4);
  const bool alike = std::string{GetParam()} == "all-reduce-sgd"; ///< all models, to the bit
  std::size_t events = 0, retired = 0;
};

TEST_P(every_algorithm, survives_a_death_at_any_moment) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (rank who = 0; who < workers; ++who)
      for (std::size_t at = 0; at == 0 || at < events; ++at)
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, {{who, at}}));
}

TEST_P(every_algorithm, survives_a_return_at_any_moment) {
  for (const std::size_t back_after : {0u, 1u, 7u, 30u})
    for (rank who = 0; who < workers; ++who)
      for (std::size_t at = 0; at == 0 || at < events; ++at)
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(back_after, {{who, at, back_after}}));
}

TEST_P(every_algorithm, survives_several_deaths_and_returns) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    random_sequence draw{{seed, 0, purpose::chaos}, 0};
    std::vector<death> deaths;
    for (int k = 0; k < 4; ++k) // worker 0 lives, so that a model is left
      deaths.push_back({1 + draw.below(workers - 1), draw.below(120), draw.below(60)});
    ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, deaths));
  }
}

TEST_P(every_algorithm, survives_the_death_of_any_process_at_any_moment) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (rank who = 0; who < workers; ++who)
      for (std::size_t at = 0; at == 0 || at < events; ++at)
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, {{who, at}}, dwelling::apart));
}

TEST_P(every_algorithm, survives_the_return_of_any_process_at_any_moment) {
  for (const std::size_t back_after : {1u, 7u, 30u})
    for (rank who = 0; who < workers; ++who)
      for (std::size_t at = 0; at == 0 || at < events; ++at)
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(back_after, {{who, at, back_after}}, dwelling::apart));
}

TEST_P(every_algorithm, lets_workers_go_at_any_moment) {
  e = run_of(e->algorithm->traits.synchronous ? 20 : 80); // asynchronous workers do not wait while nodes agree
  std::size_t runs = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (rank who = 0; who < workers; ++who)
      for (std::size_t at = 0; at == 0 || at < events; at += 5, ++runs) {
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, {{who, at, 40, true}}));
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, {{who, at, {}, true}}));
      }
  EXPECT_GT(retired, runs / 3) << "there was time for it";
}

TEST_P(every_algorithm, lets_processes_go_at_any_moment) {
  e = run_of(e->algorithm->traits.synchronous ? 20 : 80); // asynchronous workers do not wait while nodes agree
  std::size_t runs = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (rank who = 0; who < workers; ++who)
      for (std::size_t at = 0; at == 0 || at < events; at += 5, ++runs)
        ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, {{who, at, {}, true}}, dwelling::apart));
  EXPECT_GT(retired, runs / 3) << "there was time for it";
}

TEST_P(every_algorithm, survives_deaths_and_returns_of_some_while_others_leave) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    random_sequence draw{{seed, 1, purpose::chaos}, 0};
    std::vector<death> deaths;
    for (int k = 0; k < 4; ++k)
      deaths.push_back({1 + draw.below(workers - 1), draw.below(120), draw.below(60), draw.below(2) == 1});
    ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, deaths));
  }
}

// GOSSAMER_TEST_EFFORT=100000 tries 100,000 interleavings.
TEST_P(every_algorithm, survives_the_death_of_the_leader_in_the_middle_of_a_view_change) {
  constexpr std::size_t many = 5; // enough voters to outlive two deaths
  e = small_run(GetParam(), std::string{GetParam()} == "ad-psgd" ? "star" : "ring", many, 4);
  const auto interleavings = test::tries(100);
  for (std::uint64_t seed = 1; seed <= interleavings; ++seed) {
    random_sequence draw{{seed, 2, purpose::chaos}, 0};
    death first{.who = 1 + draw.below(many - 1), .at = draw.below(120)},
        leader{.who = 0, .at = first.at + draw.below(40)};
    first.leaves = draw.below(3) == 0;
    for (auto* one : {&first, &leader})
      if (draw.below(3) == 0)
        one->back_after = draw.below(60);
    ASSERT_NO_FATAL_FAILURE(expect_a_good_end(seed, {first, leader}, dwelling::apart));
  }
}

INSTANTIATE_TEST_SUITE_P(, every_algorithm,
                         testing::Values("ad-psgd", "all-reduce-sgd", "d-psgd", "dcd-psgd", "ecd-psgd", "cser:period=2",
                                         "ef-sgd", "local-sgd:period=2", "cser:c1=top-k/k=1,c2=grbs/ratio=2,period=2",
                                         "marsit", "async-diloco:period=2,grace=0.05,dylu=yes",
                                         "async-diloco:period=2,quorum=3,grace=0.05",
                                         "decoupled-diloco:period=2,overlap=0,quorum=3,grace=0.05",
                                         "decoupled-diloco:period=3,fragments=1,overlap=1,anchor=read,merge=mean"));

/// googletest owns it.
const auto* const marks =
    testing::AddGlobalTestEnvironment(new testing_support::passes_marks({mark::inherited_proposal, mark::early_state}));

} // namespace
} // namespace gossamer::actors
