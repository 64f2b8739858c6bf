// Single stories of processes that run together, over a network that only breaks where it is told to.
#include <gmock/gmock.h>

#include "processes.hpp"
#include "support/all_of.hpp"

namespace gossamer::actors {
namespace {

using consensus::health;
using consensus::node_number;
using testing::ElementsAre;
using testing_support::all_of;

/// Returns the reports of one type that a node has sent about its workers.
template <class Report>
std::vector<Report> told(const node_protocol::orders& orders) {
  std::vector<Report> result;
  for (const auto& one : all_of<report_to>(orders))
    if (const auto* found = std::get_if<Report>(&one.what))
      result.push_back(*found);
  return result;
}

const auto synchronous = "all-reduce-sgd", asynchronous = "ad-psgd";

TEST(node_protocol, tells_the_leader_who_has_finished) {
  processes all{synchronous, {0, 1, 2}, 3};
  all.worker_finishes(0);
  EXPECT_TRUE(told<worker_finished>(all.orders_of(0)).empty()) << "it leads itself";
  all.worker_finishes(1);
  EXPECT_EQ(told<worker_finished>(all.orders_of(1)).size(), 1u);
  EXPECT_TRUE(all_of<snapshot_request>(all.orders_of(0)).empty());
  all.worker_finishes(2);
  EXPECT_EQ(all_of<snapshot_request>(all.orders_of(0)).size(), 1u);
}

TEST(node_protocol, a_new_leader_is_told_again_who_has_finished) {
  for (const auto* algorithm : {synchronous, asynchronous}) {
    SCOPED_TRACE(algorithm);
    processes all{algorithm, {0, 1, 2}, 3};
    all.worker_finishes(1);
    all.worker_finishes(2);
    EXPECT_EQ(all[1].leader(), nullptr);
    all.orders_of(1), all.orders_of(2);
    all.die(0);
    ASSERT_NE(all[1].leader(), nullptr);
    EXPECT_EQ(all[1].leader_node(), 1u);
    EXPECT_EQ(all[2].leader_node(), 1u);
    EXPECT_THAT(all[1].leader()->members().living(), ElementsAre(1, 2));
    const auto first = all.orders_of(1);
    EXPECT_EQ(all_of<lead_taken>(first).size(), 1u);
    EXPECT_TRUE(all_of<account_for>(first).empty()) << "it has its own account";
    EXPECT_EQ(all_of<snapshot_request>(first).size(), 1u) << "all have finished who are left";
    const auto second = all.orders_of(2);
    ASSERT_EQ(all_of<account_for>(second).size(), 1u);
    EXPECT_EQ(all_of<account_for>(second)[0].leader, 1u);
    EXPECT_EQ(told<worker_finished>(second).size(), 1u);
  }
}

TEST(node_protocol, ends_the_run_where_the_leader_has_died_with_all_workers) {
  const auto homes_of_some = std::vector<node_number>{0, 0};
  for (const auto& [algorithm, homes] : {std::pair{synchronous, homes_of_some},
                                         {asynchronous, homes_of_some},
                                         {"async-sgd", std::vector<node_number>{0, 0, 1}}}) {
    SCOPED_TRACE(algorithm);
    processes all{algorithm, homes, 3};
    all.orders_of(1);
    all.die(0);
    EXPECT_EQ(all[1].leader(), nullptr);
    const auto ends = all_of<run_failed>(all.orders_of(1));
    ASSERT_FALSE(ends.empty());
    EXPECT_EQ(ends[0].sentence, extinction().sentence);
  }
}

TEST(node_protocol, knows_whether_a_member_may_live) {
  processes all{synchronous, {0, 1, 2}, 4};
  all.die(0);
  all.worker_dies(1);
  EXPECT_TRUE(all[1].has_living_members());
  EXPECT_TRUE(all[3].has_living_members());
  all.die(2);
  EXPECT_FALSE(all[1].has_living_members()) << "its own worker is dead";
  EXPECT_FALSE(all[3].has_living_members());
}

TEST(node_protocol, a_new_leader_is_told_of_a_worker_that_died_while_it_was_elected) {
  for (const bool waits : {false, true}) {
    SCOPED_TRACE(waits);
    processes all{synchronous, {0, 1, 2}, 3};
    bool died = false;
    all.before_delivery = [&](node_number from, const consensus::message& m) {
      if (from != 2 || !std::holds_alternative<consensus::holding>(m) || std::exchange(died, true))
        return; // goes on when node 2 has said that its worker holds
      all[2].on(worker_lost{2, 0});
      if (waits)
        all[2].on(restart_worker{2});
    };
    all.die(0);
    ASSERT_TRUE(died);
    const auto second = all.orders_of(2);
    ASSERT_EQ(told<worker_lost>(second).size(), 1u) << "and once to the leader that was";
    EXPECT_EQ(told<worker_waits>(second).size(), waits ? 1u : 0u);
    const auto decided = all_of<decision>(all.orders_of(1));
    ASSERT_EQ(decided.size(), 2u) << "it wishes for another resolution";
    EXPECT_EQ(decided[0].view.lives.at(2), 0u);
    EXPECT_EQ(decided[1].view.lives.contains(2), waits);
    if (waits) {
      EXPECT_EQ(decided[1].view.lives.at(2), decided[1].number);
      EXPECT_EQ(all.life(2), decided[1].number);
    }
  }
}

TEST(node_protocol, has_one_leader_again_that_knows_everything_when_one_comes_back_that_was_cut_off_in_it) {
  processes all{synchronous, {0, 1, 2}, 3};
  all.cut_off(0);
  ASSERT_NE(all[1].leader(), nullptr);
  EXPECT_THAT(all[1].leader()->members().living(), ElementsAre(1, 2));
  EXPECT_NE(all[0].leader(), nullptr) << "it cannot know";
  all.worker_finishes(1);
  all.reconnect(0);
  all.pass(2);
  EXPECT_EQ(all.life(0), all[0].delegate().last().what.view.lives.at(0));
  EXPECT_GT(all.life(0), 0u) << "its model was left behind";
  EXPECT_TRUE(all.stand_still.empty());
  const auto seat = all[0].leader_node();
  EXPECT_EQ(seat, 1u) << "it stays where it can";
  for (node_number n = 0; n < 3; ++n) {
    EXPECT_EQ(all[n].leader_node(), seat);
    EXPECT_EQ(all[n].leader() != nullptr, n == seat);
    EXPECT_EQ(all_of<lead_left>(all.orders_of(n)).size(), n == 0 ? 1u : 0u) << n;
  }
  EXPECT_THAT(all[seat].leader()->members().living(), ElementsAre(0, 1, 2));
  EXPECT_FALSE(all[seat].leader()->members().ready(0));
  all.on(0, worker_joined{0, all.life(0), 5});
  EXPECT_TRUE(all[seat].leader()->members().ready(0));
  all.worker_finishes(0);
  EXPECT_TRUE(all[seat].leader()->running());
  all.worker_finishes(2);
  EXPECT_FALSE(all[seat].leader()->running()) << "all models are final";
}

TEST(node_protocol, nobody_takes_the_leader_because_it_has_stood_for_it_in_vain) {
  processes all{synchronous, {0, 1, 2}, 3};
  bool doubted = false;
  all.before_delivery = [&](node_number from, const consensus::message& m) {
    if (from != 1 || !std::holds_alternative<consensus::proceed>(m) || std::exchange(doubted, true))
      return; // goes on when node 1's resolution is about to reach node 2
    all.meanwhile(2, health{1, 0, health::state::suspected});
    EXPECT_EQ(all[2].delegate().promised().node, 2u) << "it stands";
    all.meanwhile(2, health{1, 0, health::state::well});
  };
  all.die(0);
  ASSERT_TRUE(doubted);
  EXPECT_NE(all[1].leader(), nullptr);
  EXPECT_EQ(all[2].leader(), nullptr);
  EXPECT_EQ(all[2].leader_node(), 1u);
  all.worker_finishes(1);
  all.worker_finishes(2);
  EXPECT_FALSE(all[1].leader()->running()) << "all have finished, and it has heard of that";
}

TEST(node_protocol, an_evicted_worker_stands_still_and_keeps_its_model) {
  for (const auto* algorithm : {synchronous, asynchronous}) {
    SCOPED_TRACE(algorithm);
    processes all{algorithm, {0, 1, 2}, 3};
    all.cut_off(2);
    all.tell_of_others(2, health::state::well); // otherwise node 2 would stand for election in vain
    all.orders_of(2);
    all.stand_still.clear();
    const auto evicted = all[0].delegate().last();
    EXPECT_FALSE(evicted.what.view.lives.contains(2));
    all.on(2, consensus::message{consensus::proceed{evicted}});
    const auto heard = all.orders_of(2);
    EXPECT_TRUE(all_of<stop_worker>(heard).empty()) << "it may be the best that is left";
    ASSERT_EQ(all_of<hold_steps>(heard).size(), 1u);
    EXPECT_TRUE(all.stand_still.contains(2));
    EXPECT_FALSE(all[0].is_current(2, 0));
    EXPECT_TRUE(all[2].is_current(2, 0));
  }
}

TEST(node_protocol, starts_those_anew_whose_process_comes_again_and_lets_it_vote_when_they_have_the_model) {
  for (const auto* algorithm : {synchronous, asynchronous}) {
    SCOPED_TRACE(algorithm);
    processes all{algorithm, {0, 1, 2}, 3};
    all.die(2);
    EXPECT_THAT(all[0].leader()->members().living(), ElementsAre(0, 1));
    EXPECT_EQ(all_of<forget_worker>(all.orders_of(0)).size(), 1u);
    EXPECT_THAT(all[0].delegate().last().voters, ElementsAre(0, 1));
    all.orders_of(2);
    all.come_back(2);
    EXPECT_EQ(all_of<start_worker>(all.orders_of(2)).size(), 1u);
    EXPECT_GT(all.life(2), 0u);
    EXPECT_THAT(all[0].leader()->members().living(), ElementsAre(0, 1, 2));
    EXPECT_FALSE(all[0].leader()->members().ready(2));
    EXPECT_EQ(all_of<welcome_worker>(all.orders_of(0)).size(), 1u);
    EXPECT_THAT(all[0].delegate().last().voters, ElementsAre(0, 1)) << "it could outvote who has the model";
    all.on(2, worker_joined{2, all.life(2), 5});
    EXPECT_TRUE(all[0].leader()->members().ready(2));
    EXPECT_THAT(all[0].delegate().last().voters, ElementsAre(0, 1, 2));
    all.die(0);
    ASSERT_NE(all[1].leader(), nullptr) << "of three voters two are left";
    EXPECT_THAT(all[1].leader()->members().living(), ElementsAre(1, 2));
  }
}

TEST(node_protocol, lets_a_worker_go_that_came_to_life_after_its_node_had_asked_to_leave) {
  for (const auto* algorithm : {synchronous, asynchronous}) {
    SCOPED_TRACE(algorithm);
    processes all{algorithm, {0, 1, 2}, 3};
    all.die(2);
    bool has_asked = false;
    all.before_delivery = [&](auto, const consensus::message& m) {
      const auto* said = std::get_if<consensus::proceed>(&m);
      if (said != nullptr && said->last.what.view.lives.contains(2) && !std::exchange(has_asked, true))
        all.leave_meanwhile(2); // the resolution that lets its worker in is about to arrive
    };
    all.come_back(2);
    ASSERT_TRUE(has_asked);
    ASSERT_TRUE(all[0].leader()->members().is_current(2, all.life(2)));
    all.on(2, worker_joined{2, all.life(2), 5});
    all.pass(3);
    EXPECT_TRUE(all[0].delegate().last().what.parting.heirs.contains(2));
  }
}

TEST(node_protocol, counts_an_answer_once_and_only_to_the_present_question) {
  const auto run = small_run("d-psgd", "ring", 3);
  const auto rules = charter_of(*run, 1, {0, 0, 0}, std::chrono::seconds(10));
  node_protocol n{*run, *rules, 0, founding_of(*run, *rules, {{0, {}}})};
  n.begin();
  const auto first = all_of<hold_steps>(n.in_leader(checkpoint_due{}));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(n.on(worker_holds{0, 0, first[0].round + 1, 50, 0}).empty());
  EXPECT_TRUE(n.on(worker_holds{0, 0, first[0].round, 2, 0}).empty());
  EXPECT_TRUE(n.on(worker_holds{0, 0, first[0].round, 60, 0}).empty());
  EXPECT_TRUE(n.on(worker_holds{1, 0, first[0].round, 2, 0}).empty());
  const auto decided = all_of<decision>(n.on(worker_holds{2, 0, first[0].round, 3, 0}));
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(decided[0].save_at, 4u) << "nobody has begun that step";
  EXPECT_EQ(decided[0].view.number, 1u) << "nobody came, nobody is missing";
  EXPECT_TRUE(n.on(worker_holds{2, 0, first[0].round, 70, 0}).empty()) << "the question is settled";
}

TEST(node_protocol, does_not_wait_for_the_answers_of_the_lost) {
  const auto run = small_run("d-psgd", "ring", 3);
  const auto rules = charter_of(*run, 1, {0, 0, 0}, std::chrono::seconds(10));
  node_protocol n{*run, *rules, 0, founding_of(*run, *rules, {{0, {}}})};
  n.begin();
  const auto hold = all_of<hold_steps>(n.in_leader(checkpoint_due{}));
  ASSERT_EQ(hold.size(), 1u);
  n.on(worker_holds{0, 0, hold[0].round, 4, 0});
  EXPECT_TRUE(all_of<decision>(n.on(worker_lost{1, 0})).empty()) << "worker 2 has not answered";
  EXPECT_TRUE(n.on(worker_holds{1, 0, hold[0].round, 9, 0}).empty()) << "the dead";
  const auto decided = all_of<decision>(n.on(worker_holds{2, 0, hold[0].round, 4, 0}));
  ASSERT_FALSE(decided.empty());
  EXPECT_EQ(decided[0].save_at, 5u);
  EXPECT_FALSE(decided[0].view.lives.contains(1));
}

TEST(node_protocol, starts_a_master_anew_at_once_unless_a_fault_plan_will) {
  for (const bool planned : {false, true}) {
    SCOPED_TRACE(planned);
    processes all{"async-sgd", {0, 0, 1}, 2};
    if (planned)
      all.on(1, kill_worker{2, true});
    all.orders_of(1);
    all.worker_dies(2);
    const auto begun = all_of<start_worker>(all.orders_of(1));
    EXPECT_EQ(begun.empty(), planned);
    if (planned)
      all.on(1, restart_worker{2});
    EXPECT_GT(all.life(2), 0u);
    EXPECT_TRUE(all[0].leader()->members().is_current(2, all.life(2)));
    EXPECT_TRUE(all[0].leader()->members().ready(2)) << "it has a state of its own";
  }
}

} // namespace
} // namespace gossamer::actors
