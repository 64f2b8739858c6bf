// Views that each process makes from the resolutions it hears of.
#include "gossamer/actors/run/view_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

const auto pairwise = "ad-psgd", finishing = "d-psgd", repeating = "all-reduce-sgd";

std::vector<rank> subset(unsigned bits) {
  std::vector<rank> ranks;
  for (rank i = 0; bits >> i != 0; ++i)
    if (bits >> i & 1u)
      ranks.push_back(i);
  return ranks;
}

void expect_connected(const view& v) {
  const auto& graph = v.mixing->support();
  std::vector<rank> reached{v.members.front()}; // grows while it is walked
  for (std::size_t k = 0; k < reached.size(); ++k)
    for (const auto j : graph.neighbours(reached[k]))
      if (std::ranges::find(reached, j) == reached.end())
        reached.push_back(j);
  EXPECT_EQ(reached.size(), v.members.size()) << "the graph is not connected";
}

void expect_averaging(const view& v) {
  const auto& w = *v.mixing;
  for (const auto i : v.members) {
    auto sum = w.self_weight(i);
    for (const auto j : w.neighbours(i)) {
      EXPECT_EQ(w.weight(i, j), w.weight(j, i));
      EXPECT_GE(w.weight(i, j), 0);
      sum += w.weight(i, j);
    }
    EXPECT_NEAR(sum, 1, 1e-6) << "row " << i;
  }
}

void expect_consistent(const view& v, const view_change& change, bool bipartite) {
  EXPECT_EQ(v.number, change.number);
  EXPECT_EQ(v.first_step, change.first_step);
  EXPECT_EQ(v.donors, change.donors);
  EXPECT_TRUE(std::ranges::equal(v.members, change.lives, {}, {}, [](const auto& life) { return life.first; }));
  const auto& graph = v.mixing->support();
  for (rank i = 0; i < v.incarnations.size(); ++i) {
    const auto member = change.lives.find(i);
    EXPECT_EQ(v.contains(i), member != change.lives.end());
    if (v.contains(i))
      EXPECT_EQ(v.incarnations[i], member->second);
    else
      EXPECT_EQ(graph.degree(i), 0u);
    for (const auto j : graph.neighbours(i)) {
      EXPECT_TRUE(v.contains(j));
      EXPECT_TRUE(!bipartite || v.active[i] != v.active[j]);
    }
  }
  expect_connected(v);
  expect_averaging(v);
}

/// Loses every set of workers, starts every part of it anew, and checks the views before and after. The same maker
/// makes them all, and a fresh one makes the last again.
void try_every_loss(const std::string& algorithm, const std::string& topology, std::size_t workers) {
  const auto e = small_run(algorithm, topology, workers);
  const bool bipartite = algorithm == pairwise;
  view_maker views{*e};
  for (unsigned lost = 0; lost + 1 < 1u << workers; ++lost)
    for (unsigned back = lost;; back = (back - 1) & lost) {
      SCOPED_TRACE(testing::Message() << algorithm << " on " << topology << " of " << workers << ", lost "
                                      << testing::PrintToString(subset(lost)) << ", back "
                                      << testing::PrintToString(subset(back)));
      view_change change = everybody_of(*e);
      for (const auto i : subset(lost))
        change.lives.erase(i);
      change.number = 2;
      change.first_step = bipartite ? 0 : 7;
      expect_consistent(*views.make(change), change, bipartite);

      const auto donor = change.lives.begin()->first;
      for (const auto i : subset(back)) {
        change.lives[i] = 3;
        change.donors[i] = donor;
      }
      change.number = 3;
      const auto after = views.make(change);
      expect_consistent(*after, change, bipartite);
      const auto fresh = view_maker{*e}.make(change);
      EXPECT_EQ(fresh->mixing->support(), after->mixing->support()) << "it depends on the views before";
      EXPECT_EQ(fresh->active, after->active);
      if (testing::Test::HasFailure())
        return;
      if (back == 0)
        break;
    }
}

TEST(view_maker, makes_good_views_whoever_is_lost_and_comes_back) {
  for (std::size_t workers = 1; workers <= 6; ++workers) {
    try_every_loss(finishing, "ring", workers);
    try_every_loss(finishing, "complete", workers);
    try_every_loss(repeating, "ring", workers);
    try_every_loss(pairwise, "star", workers);
    if (workers % 2 == 0)
      try_every_loss(pairwise, "ring", workers);
  }
}

TEST(view_maker, restores_the_graph_when_everybody_is_back) {
  const auto e = small_run(finishing, "ring", 6);
  view_maker views{*e};
  auto change = everybody_of(*e);
  for (const rank i : {1u, 4u})
    change.lives.erase(i);
  EXPECT_NE(views.make(change)->mixing->support(), e->everybody->mixing->support());
  for (const rank i : {4u, 1u})
    change.lives[i] = 2;
  EXPECT_EQ(views.make(change)->mixing->support(), e->everybody->mixing->support());
}

TEST(view_maker, takes_time_in_proportion_to_how_many_there_may_be) {
  run_settings s;
  s.algorithm = pairwise;
  s.model = "quadratic";
  s.data = "quadratic:samples=24,dim=3";
  s.batch = 4;
  s.max_workers = 200'000; // work in its square would take hours
  const auto e = prepare(s);
  EXPECT_THAT(e->everybody->members, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(e->everybody->mixing->neighbours(3), testing::ElementsAre(0, 2));
}

TEST(view_maker, gives_masters_a_life_and_no_place_in_the_graph) {
  const auto e = small_run("async-sgd:shards=2", "ring", 3);
  auto change = everybody_of(*e);
  change.lives[4] = 6;
  const auto v = view_maker{*e}.make(change);
  EXPECT_THAT(v->members, testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(v->mixing->size(), 3u);
  EXPECT_EQ(v->incarnations[3], 0u);
  EXPECT_EQ(v->incarnations[4], 6u);
}

} // namespace
} // namespace gossamer::actors
