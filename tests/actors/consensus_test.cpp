// Single stories of nodes that agree, over a network that only breaks where it is told to.
#include <gmock/gmock.h>

#include "parliament.hpp"
#include "support/count_allocations.hpp"

namespace gossamer::actors::consensus {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// -- the usual course -------------------------------------------------------------------------------------------------

TEST(nodes, need_no_memory_for_a_tick_however_many_workers_there_are) {
  charter rules;
  rules.nodes = 2;
  for (rank i = 0; i < 10'000; ++i)
    rules.homes.push_back(i % 2);
  delegate leader{rules, 0, founding(rules.homes, {0, 1}, 100)};
  leader.on(health{1, 0, health::state::well});
  leader.on(clock_says{1});
  const auto before = support::allocations();
  for (int k = 1; k <= 100; ++k)
    EXPECT_TRUE(leader.on(clock_says{1 + 0.01 * k}).empty());
  EXPECT_EQ(support::allocations(), before) << "a set of the workers, or of their nodes, is made at each event";
}

TEST(nodes, resolve_what_the_leader_is_asked_for_in_a_handful_of_messages) {
  parliament p{4};
  EXPECT_EQ(p[3].leader(), 0u);
  p.on(0, wish{});
  p.on(0, clock_says{});
  for (node_number i = 0; i < 4; ++i) {
    EXPECT_EQ(p[i].last().number(), 2u);
    EXPECT_EQ(p[i].last().what.view, p.first().what.view) << "nobody came, nobody is missing";
    EXPECT_TRUE(p[i].is_abreast(i));
    EXPECT_FALSE(p[i].holds());
    EXPECT_EQ(p.frozen[i], 1u);
  }
  EXPECT_EQ(p.posts, 3u * 3 + 2 * 3) << "hold, holding, proceed; propose, accepted";
}

TEST(nodes, give_the_lead_to_the_first_voter_that_is_not_suspected) {
  parliament p{3};
  p.on(2, health{0, 0, health::state::suspected});
  EXPECT_EQ(p[2].leader(), 1u);
  EXPECT_EQ(p[1].leader(), 0u) << "everybody has its own beliefs";
  p.die(0);
  p.pass(0.25);
  EXPECT_EQ(p[1].last().number(), 2u);
  EXPECT_THAT(p[2].last().what.view.lives, UnorderedElementsAre(Pair(1, 0), Pair(2, 0)));
  EXPECT_THAT(p[2].last().voters, ElementsAre(1, 2));
}

TEST(nodes, stop_after_the_step_that_the_furthest_is_in) {
  parliament p{3};
  p.steps = {{0, 4}, {1, 5}, {2, 4}};
  p.on(0, wish{true, run_end::seconds});
  p.pass(0.25);
  EXPECT_EQ(p[1].last().what.limit, 6u);
  EXPECT_TRUE(p[1].last().stopping);
  EXPECT_EQ(p[1].last().why, run_end::seconds);
  EXPECT_EQ(p[1].last().what.view, p.first().what.view);
  p.pass(1);
  EXPECT_EQ(p[1].last().number(), 2u) << "the wish has come true";
}

TEST(nodes, of_an_asynchronous_run_decide_without_a_pause) {
  parliament p{3, 0, false};
  p.on(0, wish{true, run_end::planned});
  p.pass(0.25);
  EXPECT_THAT(p.frozen, IsEmpty());
  EXPECT_EQ(p[2].last().what.limit, 0u);
}

// -- laggards ---------------------------------------------------------------------------------------------------------

TEST(a_laggard, learns_from_the_next_question_what_it_has_missed) {
  parliament p{3};
  p.cut_off(2);
  p[0].on(health{2, 0, health::state::suspected});
  p.pass(0.25);
  EXPECT_EQ(p[2].last().number(), 1u);
  EXPECT_THAT(p[1].last().voters, ElementsAre(0, 1, 2)) << "it is silent, but may live";
  p.reconnect(2);
  p.on(0, health{2, 0, health::state::well});
  p.pass(0.25);
  EXPECT_EQ(p[2].last().number(), 3u);
  EXPECT_THAT(p[2].last().what.view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(2, 3)))
      << "its old life is over";
  EXPECT_THAT(p[2].last().what.view.donors, SizeIs(1));
  EXPECT_FALSE(p[2].is_abreast(2));
  p.on(2, state_taken{2, 3, 7});
  EXPECT_TRUE(p[2].is_abreast(2));
}

TEST(a_laggard, that_holds_asks_the_voters_what_has_become_of_it) {
  parliament p{3};
  p.on(2, message{hold{{1, 0, 0}, p.first()}});
  EXPECT_TRUE(p[2].holds());
  p.cut_off(2);
  p[0].on(health{2, 0, health::state::suspected});
  p.pass(0.25);
  EXPECT_TRUE(p[2].holds()) << "time does not thaw it";
  p.reconnect(2);
  p.pass(0.25);
  EXPECT_EQ(p[2].last().number(), 2u);
  EXPECT_FALSE(p[2].holds());
}

TEST(a_voter, that_holds_for_long_takes_the_lead) {
  parliament p{3};
  for (const node_number i : {1u, 2u})
    p.on(i, message{hold{{1, 0, 0}, p.first()}});
  p.cut_off(0);
  p.pass(4.5);
  EXPECT_TRUE(p[1].holds());
  for (const node_number i : {1u, 2u})
    p[i].on(health{0, 0, health::state::suspected});
  p.pass(0.5);
  EXPECT_EQ(p[2].last().number(), 2u) << "the leader is suspected: the next one does not wait";
}

TEST(a_voter, that_was_cut_off_leaves_the_lead_to_one_that_has_decided_since) {
  parliament p{5};
  auto since = p.first();
  ++since.what.number;
  since.leader = 1;
  for (const node_number i : {1u, 3u, 4u})
    p[0].on(health{i, 0, health::state::suspected});
  p[0].on(message{refused{{1, 0, 0}, {2, 1, 0}, since}}); // names 2, of which node 0 has heard again
  EXPECT_EQ(p[0].last().number(), 2u);
  p.pass(1);
  EXPECT_EQ(p[0].leader(), 1u);
  EXPECT_FALSE(p[0].asks());
  p[0].on(health{1, 0, health::state::suspected});
  EXPECT_EQ(p[0].leader(), 0u) << "when it is silent from then on";
}

// Another voter has found that it was decided, and nodes may have reported to this leader before it knew.
TEST(a_leader, says_that_it_has_it_also_by_a_resolution_of_which_it_hears_last) {
  parliament p{3};
  auto next = p.first();
  ++next.what.number;
  next.leader = 1;
  const auto said = p[1].on(message{proceed{next}});
  const auto* letter = std::get_if<post>(&said.back());
  ASSERT_NE(letter, nullptr);
  EXPECT_THAT(letter->to, ElementsAre(0, 2));
  EXPECT_EQ(std::get<proceed>(letter->what).last, next);
  const auto heard = p[2].on(message{proceed{next}});
  EXPECT_FALSE(std::ranges::any_of(heard, [](const auto& one) { return std::holds_alternative<post>(one); }));
}

TEST(a_voter, takes_the_lead_also_if_nobody_is_suspected) {
  parliament p{3};
  for (const node_number i : {0u, 1u})
    p.on(i, message{hold{{1, 2, 0}, p.first()}}); // node 2 never asked with this ballot, as if it had forgotten it
  p.cut_off(2);
  p.pass(p.rules().longest_hold_s - 0.5);
  EXPECT_FALSE(p[0].asks()) << "the leader may be slow";
  p.reconnect(2);
  p.pass(1);
  EXPECT_EQ(p[2].last().number(), 2u);
}

TEST(a_leader, that_is_refused_tries_above_whom_it_has_lost_to) {
  parliament p{3};
  p.cut_off(2);
  for (int i = 0; i < 5; ++i)
    p.stand(2);
  p.reconnect(2);
  p.on(1, message{hold{p[2].own_ballot(), p.first()}});
  p.stand(0);
  EXPECT_FALSE(p[0].asks());
  p.pass(1);
  EXPECT_GT(p[0].own_ballot().term, p[2].own_ballot().term);
  EXPECT_EQ(p[0].last().number(), 2u);
}

// -- voters -----------------------------------------------------------------------------------------------------------

TEST(a_minority, never_decides) {
  parliament p{3};
  for (const node_number i : {1u, 2u})
    p.die(i);
  p.pass(100);
  EXPECT_EQ(p[0].last().number(), 1u);
  EXPECT_TRUE(p[0].holds());
}

TEST(two_hosts, survive_either_with_a_launcher_that_votes) {
  for (const node_number dies : {0u, 1u, 2u}) {
    parliament p{2, 1};
    p.die(dies);
    p.pass(1);
    const node_number other = dies == 0 ? 1 : 0;
    EXPECT_EQ(p[other].last().number(), 2u);
    EXPECT_EQ(p[other].last().what.view.lives.size(), dies == 2 ? 2u : 1u);
  }
}

TEST(a_launcher, that_comes_back_votes_again) {
  parliament p{2, 1};
  p.die(2);
  p.pass(0.25);
  EXPECT_THAT(p[0].last().voters, ElementsAre(0, 1));
  p.come_back(2);
  p.pass(0.5);
  EXPECT_TRUE(p[2].votes());
  EXPECT_EQ(p[0].last().number(), 3u) << "and then there is peace";
}

TEST(one_that_comes_back, votes_when_it_has_the_model) {
  parliament p{3};
  p.die(2);
  p.pass(0.25);
  p.come_back(2);
  p.pass(0.25);
  EXPECT_EQ(p[2].last().number(), 3u);
  EXPECT_FALSE(p[2].votes());
  EXPECT_THAT(p[2].last().what.view.lives, testing::Contains(Pair(2, 3)));
  p.on(2, state_taken{2, 3, 0});
  p.on(0, wish{});
  p.pass(0.25);
  EXPECT_TRUE(p[2].votes());
  EXPECT_EQ(p[0].last().number(), 4u);
}

// The resolution that follows its node's answer still counts the master as alive. It must not be taken for the master's
// return.
TEST(a_master, that_dies_after_its_node_has_answered_is_still_to_be_started_anew) {
  parliament p{3, 0, false};
  p[2].on(workers_stand{{}, {{.who = 2, .ended = true}}});
  auto next = p.first();
  ++next.what.number;
  const auto said = p[2].on(message{hold{{2, 0, 0}, next}});
  const auto* letter = std::get_if<post>(&said.back());
  ASSERT_NE(letter, nullptr);
  const auto& workers = std::get<holding>(letter->what).workers;
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_TRUE(workers[0].ended);
  EXPECT_EQ(workers[0].line, 2u);
}

TEST(a_worker, that_dies_while_its_node_lives_is_started_anew) {
  parliament p{3};
  p.dead.insert(1);
  p.on(0, wish{});
  p.pass(0.25);
  EXPECT_THAT(p[0].last().what.view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 2), Pair(2, 0)));
  EXPECT_TRUE(p[1].votes()) << "its node has forgotten nothing";
}

TEST(voters, are_seven_at_most_and_renewed) {
  parliament p{9};
  EXPECT_THAT(p[8].last().voters, SizeIs(7));
  p.die(1);
  p.die(0);
  p.pass(1);
  EXPECT_THAT(p[8].last().voters, ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

} // namespace
} // namespace gossamer::actors::consensus
