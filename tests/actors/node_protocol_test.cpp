// Single stories of processes that run together, over a network that only breaks where it is told to.
#include "gossamer/actors/agreement/node_protocol.hpp"
#include "gossamer/actors/node/world.hpp"

#include <gmock/gmock.h>

#include <deque>

#include "small_run.hpp"
#include "support/all_of.hpp"

namespace gossamer::actors {
namespace {

using consensus::health;
using consensus::node_number;
using testing::ElementsAre;
using testing_support::all_of;

/// Nodes whose workers answer every question at once. All nodes vote, and node 0 leads. A node that dies is known to be
/// gone; a node that is cut off is suspected.
class processes {
public:
  processes(const std::string& algorithm, std::vector<node_number> homes, node_number nodes)
      : run_(small_run(algorithm, algorithm == "ad-psgd" ? "star" : "ring",
                       homes.size() - (algorithm == "async-sgd"))), // the last rank of async-sgd is a master
        rules_(charter_of(*run_, nodes, std::move(homes), std::chrono::seconds(10))) {
    std::map<node_number, consensus::process> there;
    for (node_number n = 0; n < nodes; ++n)
      there[n] = {};
    first_ = founding_of(*run_, *rules_, there);
    for (node_number n = 0; n < nodes; ++n) {
      nodes_.emplace(n, node_protocol{*run_, *rules_, n, first_});
      obey(n, nodes_.at(n).begin());
    }
  }

  node_protocol& operator[](node_number n) { return nodes_.at(n); }

  /// Handles an event at a node, and all that follows from it.
  template <class Event>
  void on(node_number n, const Event& e) {
    obey(n, nodes_.at(n).on(e));
    deliver();
  }
  template <class Event>
  void in_leader(node_number n, const Event& e) {
    obey(n, nodes_.at(n).in_leader(e));
    deliver();
  }
  /// Handles an event at a node. Its messages are delivered after those that are under way.
  template <class Event>
  void meanwhile(node_number n, const Event& e) {
    obey(n, nodes_.at(n).on(e));
  }
  void worker_finishes(rank i) { on(rules_->homes[i], worker_finished{i, lives_[i]}); }
  void worker_dies(rank i) { on(rules_->homes[i], worker_lost{i, lives_[i]}); }

  void die(node_number n) {
    nodes_.erase(n);
    tell_of(n, health::state::gone);
  }
  /// Cuts a node off. It suspects the others, and they suspect it.
  void cut_off(node_number n) {
    cut_off_.insert(n);
    tell_of(n, health::state::suspected);
    tell_of_others(n, health::state::suspected);
  }
  void reconnect(node_number n) {
    cut_off_.erase(n);
    tell_of_others(n, health::state::well);
    tell_of(n, health::state::well);
  }
  /// Starts a node's process again, without any knowledge.
  void come_back(node_number n) {
    nodes_.emplace(n, node_protocol{*run_, *rules_, n, consensus::process{++started_again_[n], {}, {}}});
    obey(n, nodes_.at(n).begin());
    tell_of_others(n, health::state::well);
    tell_of(n, health::state::well);
  }
  /// Tells a node the state of all other nodes.
  void tell_of_others(node_number n, health::state state) {
    for (const auto& [other, node] : nodes_)
      if (other != n)
        obey(n, nodes_.at(n).on(health{other, started_again_[other], state}));
    deliver();
  }

  void pass(double seconds) {
    for (const auto end = now_s_ + seconds; now_s_ < end; now_s_ += 0.125)
      for (auto& [n, node] : nodes_) {
        obey(n, node.on(time_is{now_s_}));
        deliver();
      }
  }

  /// Returns the orders of a node since the last call.
  node_protocol::orders orders_of(node_number n) { return std::exchange(ordered_[n], {}); }
  std::uint32_t life(rank i) const { return lives_.at(i); }
  std::set<rank> stand_still; ///< workers that were told to hold, and nothing since
  std::function<void(node_number from, const consensus::message& what)> before_delivery;

private:
  void tell_of(node_number n, health::state state) {
    for (auto& [other, node] : nodes_)
      if (other != n && !cut_off_.contains(other))
        obey(other, node.on(health{n, started_again_[n], state}));
    deliver();
  }

  void obey(node_number n, const node_protocol::orders& all) {
    for (const auto& o : all) {
      ordered_[n].push_back(o);
      if (const auto* letter = std::get_if<consensus::post>(&o)) {
        for (const auto to : letter->to)
          mail_.push_back({n, to, letter->what});
      } else if (const auto* told = std::get_if<report_to>(&o)) {
        mail_.push_back({n, told->node, told->what});
      } else if (const auto* begun = std::get_if<start_worker>(&o)) {
        lives_[begun->who] = begun->incarnation;
      } else if (const auto* question = std::get_if<hold_steps>(&o)) {
        for (const auto& [i, life] : lives_)
          if (rules_->homes[i] == n) { // dead workers answer too, and are not heard
            stand_still.insert(i);
            obey(n, nodes_.at(n).on(worker_holds{i, life, question->round, 3, 3}));
          }
      } else if (const auto* decided = std::get_if<decision>(&o)) {
        for (const auto& [i, life] : decided->view.lives)
          if (rules_->homes[i] == n && lives_[i] == life)
            stand_still.erase(i);
      }
    }
  }

  void deliver() {
    while (!mail_.empty()) {
      const auto m = mail_.front();
      mail_.pop_front();
      if (!nodes_.contains(m.to) || cut_off_.contains(m.from) || cut_off_.contains(m.to))
        continue;
      if (const auto* word = std::get_if<consensus::message>(&m.what)) {
        if (before_delivery)
          before_delivery(m.from, *word);
        obey(m.to, nodes_.at(m.to).on(*word));
      } else {
        obey(m.to, nodes_.at(m.to).on(std::get<leader_report>(m.what)));
      }
    }
  }

  struct envelope {
    node_number from, to;
    std::variant<consensus::message, leader_report> what;
  };

  std::shared_ptr<const experiment> run_;
  std::shared_ptr<const consensus::charter> rules_;
  consensus::resolution first_;
  std::map<node_number, node_protocol> nodes_;
  std::set<node_number> cut_off_;
  std::map<node_number, node_protocol::orders> ordered_;
  std::map<rank, std::uint32_t> lives_;
  std::map<node_number, std::uint32_t> started_again_;
  std::deque<envelope> mail_;
  double now_s_ = 0;
};

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
