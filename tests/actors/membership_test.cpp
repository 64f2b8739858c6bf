#include "gossamer/actors/runtime/membership.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t far = 1000;

std::shared_ptr<const view> next_view(membership& m, std::uint64_t limit) { return m.view_of(m.next_view(limit)); }

const auto asynchronous = "ad-psgd", finishing = "d-psgd", repeating = "all-reduce-sgd";

/// All living workers answer the present round: each of `steps` in the order of ranks, or 0.
bool hold_all(membership& m, std::vector<std::uint64_t> steps = {}) {
  const auto round = m.ask();
  bool complete = false;
  for (const auto i : m.living()) {
    EXPECT_FALSE(complete) << "there is still worker " << i;
    complete = m.answer(i, round, i < steps.size() ? steps[i] : 0);
  }
  return complete;
}

std::vector<rank> subset(unsigned bits) {
  std::vector<rank> ranks;
  for (rank i = 0; bits >> i != 0; ++i)
    if (bits >> i & 1u)
      ranks.push_back(i);
  return ranks;
}

void expect_consistent(const view& v, const membership& m, bool bipartite) {
  EXPECT_EQ(v.members, m.living());
  EXPECT_EQ(v.members.size(), m.population());
  const auto& graph = v.mixing->support();
  for (rank i = 0; i < v.incarnations.size(); ++i) {
    EXPECT_EQ(v.incarnations[i], m.alive(i) ? std::optional{m.incarnation(i)} : std::nullopt);
    EXPECT_EQ(v.contains(i), m.alive(i));
    EXPECT_TRUE(m.alive(i) || graph.degree(i) == 0);
    for (const auto j : graph.neighbours(i)) {
      EXPECT_TRUE(v.contains(j));
      EXPECT_TRUE(!bipartite || v.active[i] != v.active[j]);
    }
  }
  std::vector<rank> reached{v.members.front()}; // grows while it is walked
  for (std::size_t k = 0; k < reached.size(); ++k)
    for (const auto j : graph.neighbours(reached[k]))
      if (std::ranges::find(reached, j) == reached.end())
        reached.push_back(j);
  EXPECT_EQ(reached.size(), v.members.size()) << "the graph is not connected";
}

void expect_good_donors(const view& v, const membership& m, const std::vector<rank>& ready) {
  const auto has_state = [&](rank i) { return std::ranges::count(ready, i) > 0; };
  for (const auto i : v.members) {
    ASSERT_EQ(v.donors.contains(i), !has_state(i)) << i;
    if (has_state(i))
      continue;
    const auto donor = v.donors.at(i);
    EXPECT_TRUE(has_state(donor)) << donor << " has nothing to give to " << i;
    const auto neighbours = v.mixing->neighbours(i);
    EXPECT_TRUE(std::ranges::none_of(neighbours, has_state) || std::ranges::count(neighbours, donor) > 0)
        << donor << " is no neighbour of " << i;
    EXPECT_FALSE(m.ready(i));
  }
}

/// Loses every set of workers, starts every part of it anew, and looks at the views before and after.
void try_every_loss(const std::string& algorithm, const std::string& topology, std::size_t workers) {
  const auto e = small_run(algorithm, topology, workers);
  const bool bipartite = algorithm == asynchronous;
  for (unsigned lost = 0; lost + 1 < 1u << workers; ++lost)
    for (unsigned back = lost;; back = (back - 1) & lost) {
      SCOPED_TRACE(testing::Message() << algorithm << " on " << topology << " of " << workers << ", lost "
                                      << testing::PrintToString(subset(lost)) << ", back "
                                      << testing::PrintToString(subset(back)));
      membership m{*e};
      for (const auto i : subset(lost))
        m.lose(i);
      const auto survivors = m.living();
      EXPECT_TRUE(hold_all(m));
      const auto before = next_view(m, far);
      EXPECT_EQ(before->number, 2u);
      expect_consistent(*before, m, bipartite);
      EXPECT_THAT(before->donors, IsEmpty());
      EXPECT_FALSE(m.changed());

      for (const auto i : subset(back))
        EXPECT_EQ(m.start(i), 1u);
      EXPECT_EQ(m.changed(), back != 0);
      EXPECT_TRUE(hold_all(m));
      const auto after = next_view(m, far);
      EXPECT_EQ(after->number, 3u);
      expect_consistent(*after, m, bipartite);
      expect_good_donors(*after, m, survivors);
      if (testing::Test::HasFailure())
        return;
      if (back == 0)
        break;
    }
}

TEST(membership, makes_good_views_whoever_is_lost_and_comes_back) {
  for (std::size_t workers = 1; workers <= 6; ++workers) {
    try_every_loss(finishing, "ring", workers);
    try_every_loss(finishing, "complete", workers);
    try_every_loss(repeating, "ring", workers);
    try_every_loss(asynchronous, "star", workers);
    if (workers % 2 == 0)
      try_every_loss(asynchronous, "ring", workers);
  }
}

TEST(membership, restores_the_graph_when_everybody_is_back) {
  const auto e = small_run(finishing, "ring", 6);
  membership m{*e};
  for (const rank i : {1u, 4u})
    m.lose(i);
  next_view(m, far);
  for (const rank i : {4u, 1u})
    m.start(i);
  EXPECT_EQ(next_view(m, far)->mixing->support(), e->everybody->mixing->support());
}

TEST(membership, counts_the_lives_of_a_worker) {
  const auto e = small_run(finishing, "ring", 3);
  membership m{*e};
  for (std::uint32_t life = 1; life < 4; ++life) {
    m.lose(1);
    m.lose(1); // a second notice
    EXPECT_EQ(m.population(), 2u);
    EXPECT_FALSE(m.alive(1) || m.ready(1));
    EXPECT_EQ(m.start(1), life);
    EXPECT_EQ(m.population(), 3u);
    EXPECT_TRUE(m.alive(1) && !m.ready(1));
  }
  m.start(1); // at once, as stranded ones are
  EXPECT_EQ(m.population(), 3u);
  EXPECT_EQ(m.incarnation(1), 4u);
  m.joined(1, 7);
  EXPECT_TRUE(m.ready(1));
  m.lose(0);
  m.lose(2);
  EXPECT_TRUE(m.anybody_ready());
  m.lose(1);
  m.start(1);
  EXPECT_FALSE(m.anybody_ready()) << "it has no state";
}

TEST(membership, lets_a_view_begin_where_the_kind_of_algorithm_demands_it) {
  struct expected {
    const char* algorithm;
    std::uint64_t limit, first_step;
  };
  for (const auto& [algorithm, limit, first_step] :
       {expected{asynchronous, far, 0}, expected{finishing, far, 6}, expected{finishing, 6, 6},
        expected{finishing, 5, 5}, expected{repeating, far, 5}, expected{repeating, 3, 3}}) {
    const auto e = small_run(algorithm, "ring", 4);
    membership m{*e};
    m.lose(1);
    EXPECT_TRUE(hold_all(m, {4, 9, 5, 4})); // what the lost one did is forgotten
    EXPECT_EQ(m.last_step(), 5u);
    EXPECT_EQ(next_view(m, limit)->first_step, first_step) << algorithm << ", limit " << limit;
  }
}

TEST(membership, takes_the_last_step_of_those_only_who_have_the_state) {
  const auto e = small_run(finishing, "ring", 3);
  membership m{*e};
  m.lose(2);
  m.start(2);
  EXPECT_TRUE(hold_all(m, {4, 5, 100}));
  EXPECT_EQ(m.last_step(), 5u);
  EXPECT_EQ(next_view(m, far)->first_step, 6u);
  m.joined(2, 6);
  EXPECT_EQ(m.last_step(), 6u);
}

TEST(membership, gives_those_who_are_a_round_behind_the_state_of_one_who_is_not) {
  const auto e = small_run(repeating, "ring", 4);
  membership m{*e};
  m.lose(3);
  EXPECT_TRUE(hold_all(m, {4, 5, 4}));
  const auto v = next_view(m, far);
  EXPECT_EQ(v->first_step, 5u);
  EXPECT_EQ(v->donors, (std::map<rank, rank>{{0, 1}, {2, 1}}));
  EXPECT_FALSE(m.ready(0));
  EXPECT_THAT(m.stranded(), IsEmpty()) << "nobody waits for them who would not repeat the round";
  m.joined(0, 5);
  EXPECT_TRUE(m.ready(0));

  const auto other = small_run(finishing, "ring", 4);
  membership n{*other};
  n.lose(3);
  EXPECT_TRUE(hold_all(n, {4, 5, 4}));
  EXPECT_THAT(next_view(n, far)->donors, IsEmpty()) << "these will still do step 5 in the old view";
}

TEST(membership, goes_on_from_those_who_are_a_round_behind_when_all_others_are_lost) {
  const auto e = small_run(repeating, "ring", 4);
  membership m{*e};
  m.lose(3);
  EXPECT_TRUE(hold_all(m, {4, 5, 4}));
  next_view(m, far);
  m.start(3);
  m.lose(1); // the only one in step 5, before it has handed over its state
  EXPECT_TRUE(m.ready(0));
  EXPECT_TRUE(m.ready(2));
  EXPECT_FALSE(m.ready(3)) << "it has just been started";
  EXPECT_TRUE(hold_all(m, {4, far, 4, 0}));
  const auto v = next_view(m, far);
  EXPECT_EQ(v->first_step, 4u);
  EXPECT_EQ(v->donors, (std::map<rank, rank>{{3, 0}}));
  m.lose(0);
  m.lose(2);
  EXPECT_FALSE(m.anybody_ready());
}

TEST(membership, calls_those_stranded_who_wait_for_a_promised_state_of_an_algorithm_that_finishes_rounds) {
  for (const auto* algorithm : {asynchronous, finishing, repeating}) {
    const auto e = small_run(algorithm, "ring", 4);
    membership m{*e};
    m.lose(1);
    m.lose(3);
    m.start(1);
    m.start(3);
    EXPECT_THAT(m.stranded(), IsEmpty()) << "nothing has been promised yet";
    hold_all(m);
    next_view(m, far);
    const bool finishes = algorithm == finishing;
    EXPECT_EQ(m.stranded(), finishes ? std::vector<rank>({1, 3}) : std::vector<rank>{}) << algorithm;
    m.joined(1, 1);
    EXPECT_EQ(m.stranded(), finishes ? std::vector<rank>{3} : std::vector<rank>{});
    m.lose(3);
    EXPECT_THAT(m.stranded(), IsEmpty());
    m.start(3);
    EXPECT_THAT(m.stranded(), IsEmpty()) << "a new life has been promised nothing";
  }
}

TEST(membership, ignores_the_answers_to_an_old_round) {
  const auto e = small_run(finishing, "ring", 3);
  membership m{*e};
  const auto old = m.ask();
  EXPECT_FALSE(m.answer(0, old, 1));
  const auto present = m.ask();
  EXPECT_NE(old, present);
  for (rank i = 0; i < 3; ++i)
    EXPECT_FALSE(m.answer(i, old, 50));
  EXPECT_FALSE(m.answer(0, present, 2));
  EXPECT_FALSE(m.answer(0, present, 60)) << "an answer counts once";
  EXPECT_FALSE(m.answer(1, present, 2));
  EXPECT_TRUE(m.answer(2, present, 3));
  EXPECT_EQ(m.last_step(), 3u);
  EXPECT_FALSE(m.answer(2, present, 70)) << "the round is over";
  EXPECT_EQ(m.last_step(), 3u);
}

TEST(membership, begins_a_view_with_the_next_exchange_of_the_furthest_where_rounds_are_repeated) {
  const auto e = small_run(repeating, "ring", 4);
  membership m{*e};
  m.lose(3);
  const auto round = m.ask();
  EXPECT_FALSE(m.answer(0, round, 8, 15)); // an exchange every eight steps
  EXPECT_FALSE(m.answer(1, round, 13, 15));
  EXPECT_TRUE(m.answer(2, round, 7, 7));
  EXPECT_EQ(m.last_step(), 13u);
  const auto v = next_view(m, far);
  EXPECT_EQ(v->first_step, 15u);
  ASSERT_EQ(v->donors.size(), 1u) << "worker 0 catches up";
  EXPECT_TRUE(v->donors.contains(2)) << "it is a whole round behind";
}

TEST(membership, does_not_wait_for_the_answers_of_the_lost) {
  const auto e = small_run(finishing, "ring", 3);
  membership m{*e};
  const auto round = m.ask();
  EXPECT_FALSE(m.answer(0, round, 4));
  m.lose(1);
  EXPECT_FALSE(m.answer(1, round, 9));
  EXPECT_TRUE(m.answer(2, round, 4));
  EXPECT_EQ(m.last_step(), 4u);
}

} // namespace
} // namespace gossamer::actors
