#include "gossamer/actors/agreement/vigil.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using namespace consensus;
using enum health::state;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr auto patience = 10s;
constexpr node_number self = 3;

MATCHER_P(is_of, node, "") { return arg.node == static_cast<node_number>(node); }

/// Node 3 of five with one worker each, of which the first three vote and node 0 leads.
class vigil_test : public testing::Test {
protected:
  vigil_test() : known(founding({0, 1, 2, 3, 4}, {0, 1, 2}, 100)) {
    rules.nodes = 5;
    rules.homes = {0, 1, 2, 3, 4};
    here.emplace(rules, self, patience);
    there.adopt(known);
  }

  vigil::outlook outlook() const { return {known, there, asks, has_leader}; }
  auto suspects(vigil::time now) { return here->suspects(outlook(), now); }
  /// Lets time pass, with a look each half second, in which only some nodes are heard.
  auto suspects_after(vigil::time begin, vigil::time end, const std::set<node_number>& heard) {
    std::vector<vigil::suspicion> all;
    for (auto now = begin; now <= end; now += 500ms) {
      for (const auto n : heard)
        here->hear(n, there, now);
      for (auto& one : suspects(now)) {
        there.believe({one.node, one.life, suspected});
        all.push_back(std::move(one));
      }
    }
    return all;
  }
  /// The next resolution: without some ranks, and with others in a later life.
  void resolve(const std::set<rank>& without, const std::set<rank>& anew = {}) {
    auto& what = known.what;
    ++what.number;
    for (const auto i : without)
      what.view.lives.erase(i);
    for (const auto i : anew)
      what.view.lives[i] += 1;
    there.adopt(known);
  }
  void lose(node_number n) {
    here->forget(n);
    there.believe({n, there[n].by.life, gone});
  }

  charter rules;
  resolution known;
  seats there{5};
  bool asks = false, has_leader = true;
  std::optional<vigil> here;
};

TEST_F(vigil_test, suspects_voters_that_are_silent_and_nobody_else) {
  const auto found = suspects_after(0s, 11s, {0, 1});
  ASSERT_THAT(found, ElementsAre(is_of(2)));
  EXPECT_THAT(found[0].why, HasSubstr("nothing has been heard of it for 10 s"));
}

TEST_F(vigil_test, watches_all_nodes_while_it_leads) {
  here->lead();
  EXPECT_THAT(suspects_after(0s, 11s, {0, 1, 2}), ElementsAre(is_of(4)));
}

TEST_F(vigil_test, watches_all_nodes_while_it_asks_for_the_lead_and_not_afterwards) {
  asks = true;
  EXPECT_THAT(suspects_after(0s, 9s, {0, 1, 2}), IsEmpty());
  asks = false;
  EXPECT_THAT(suspects_after(9s, 12s, {0, 1, 2}), IsEmpty());
  asks = true;
  EXPECT_THAT(suspects_after(12s, 21s, {0, 1, 2}), IsEmpty()) << "it has been watched since 12 s only";
  EXPECT_THAT(suspects_after(21s, 23s, {0, 1, 2}), ElementsAre(is_of(4)));
}

TEST_F(vigil_test, suspects_once) { EXPECT_THAT(suspects_after(0s, 60s, {0, 1}), ElementsAre(is_of(2))); }

TEST_F(vigil_test, takes_a_resolution_for_a_sign_of_life_of_its_leader) {
  EXPECT_THAT(suspects_after(0s, 9s, {1, 2}), IsEmpty());
  resolve({});
  EXPECT_THAT(suspects_after(9s, 18s, {1, 2}), IsEmpty());
  EXPECT_THAT(suspects_after(18s, 20s, {1, 2}), ElementsAre(is_of(0)));
}

TEST_F(vigil_test, believes_in_a_node_that_is_heard_again) {
  EXPECT_FALSE(here->hear(2, there, 0s)) << "that is no news";
  there.believe({2, 0, suspected});
  EXPECT_TRUE(here->hear(2, there, 1s));
  there.believe({2, 0, gone});
  EXPECT_TRUE(here->hear(2, there, 2s));
}

TEST_F(vigil_test, gives_up_one_of_two_that_do_not_reach_each_other_while_it_leads) {
  here->complain(1, 4, "of 4", 0s);
  EXPECT_THAT(suspects(2s), IsEmpty()) << "that is the leader's to settle";
  here->lead();
  suspects(3s);
  here->complain(1, 4, "of 4", 3s);
  here->complain(2, 4, "of 4 too", 3s);
  const auto found = suspects(4s);
  ASSERT_THAT(found, ElementsAre(is_of(4)));
  EXPECT_EQ(found[0].why, "of 4");
  there.believe({4, 0, suspected});
  EXPECT_FALSE(here->hear(4, there, 5s)) << "it reaches this node, but not the others";
  EXPECT_TRUE(here->hear(4, there, 3s + 3 * patience));
}

TEST_F(vigil_test, does_not_bar_a_node_that_it_does_not_hear_either) {
  here->lead();
  suspects(0s);
  here->complain(1, 4, "of 4", 0s);
  for (const auto& one : suspects_after(500ms, 12s, {0, 1, 2}))
    EXPECT_THAT(one, is_of(4));
  EXPECT_EQ(there[4].is, suspected);
  EXPECT_TRUE(here->hear(4, there, 13s)) << "it was cut off from all nodes";
}

TEST_F(vigil_test, gives_a_node_that_is_back_its_patience_to_reach_the_others) {
  here->lead();
  there.believe({2, 0, suspected});
  here->hear(2, there, 100s);
  there.believe({2, 0, well});
  here->complain(2, 1, "from before", 100s);
  here->complain(4, 2, "from before", 101s);
  EXPECT_THAT(suspects(102s), IsEmpty());
  here->complain(2, 1, "of 1", 100s + patience);
  EXPECT_THAT(suspects(101s + patience), ElementsAre(is_of(1)));
}

TEST_F(vigil_test, starts_with_complaints_anew_when_it_leads_again) {
  here->lead();
  here->complain(1, 4, "of 4", 0s);
  here->follow();
  here->lead();
  EXPECT_THAT(suspects(2s), IsEmpty());
}

TEST_F(vigil_test, loses_suspected_nodes_once_the_run_goes_on_without_them) {
  here->lead();
  ASSERT_THAT(suspects_after(0s, 11s, {0, 1, 2}), ElementsAre(is_of(4)));
  EXPECT_THAT(here->left_out(outlook()), IsEmpty());
  resolve({4});
  const auto lost = here->left_out(outlook());
  ASSERT_THAT(lost, ElementsAre(is_of(4)));
  EXPECT_THAT(lost[0].why, HasSubstr("nothing has been heard"));
  lose(4);
  EXPECT_THAT(here->left_out(outlook()), IsEmpty());
}

TEST_F(vigil_test, doubts_a_loss_that_the_leader_does_not_see_and_says_so_each_second) {
  lose(4);
  EXPECT_THAT(here->doubt(outlook(), 0s).of, IsEmpty());
  EXPECT_THAT(here->doubt(outlook(), 1s).of, IsEmpty()) << "the leader may be about to see it";
  EXPECT_THAT(here->doubt(outlook(), 1100ms).of, ElementsAre(4));
  EXPECT_THAT(here->doubt(outlook(), 2s).of, IsEmpty());
  EXPECT_THAT(here->doubt(outlook(), 2200ms).of, ElementsAre(4));
  resolve({4});
  EXPECT_THAT(here->doubt(outlook(), 10s).of, IsEmpty()) << "the leader has seen it";
}

TEST_F(vigil_test, meets_a_node_again_that_goes_on_in_another_life) {
  lose(4);
  here->doubt(outlook(), 0s);
  resolve({}, {4});
  EXPECT_THAT(here->doubt(outlook(), 100ms).is_taken_back, Optional(4u));
}

TEST_F(vigil_test, meets_a_node_again_from_which_it_was_left_out_itself) {
  lose(4);
  here->doubt(outlook(), 0s);
  resolve({}, {self});
  EXPECT_THAT(here->doubt(outlook(), 100ms).is_taken_back, Optional(4u));
}

TEST_F(vigil_test, never_doubts_the_loss_of_an_expelled_life) {
  here->expel(4, 0);
  lose(4);
  here->doubt(outlook(), 0s);
  resolve({}, {4});
  const auto found = here->doubt(outlook(), 5s);
  EXPECT_THAT(found.of, IsEmpty());
  EXPECT_FALSE(found.is_taken_back);
  EXPECT_TRUE(here->has_expelled(4, 0));
  EXPECT_FALSE(here->has_expelled(4, 1));
  EXPECT_FALSE(here->has_expelled(2, 0));
}

TEST_F(vigil_test, lacks_a_quorum_when_most_voters_are_lost_and_not_when_they_are_silent) {
  there.believe({0, 0, suspected});
  there.believe({1, 0, suspected});
  EXPECT_FALSE(here->lacks_quorum(outlook()));
  lose(0);
  EXPECT_FALSE(here->lacks_quorum(outlook()));
  lose(1);
  EXPECT_TRUE(here->lacks_quorum(outlook()));
}

TEST_F(vigil_test, does_not_count_a_voter_that_has_been_restarted) {
  there.meet(0, {5, {}, {}});
  there.meet(1, {5, {}, {}});
  EXPECT_TRUE(here->lacks_quorum(outlook()));
}

TEST_F(vigil_test, lacks_a_leader_after_its_patience) {
  has_leader = false;
  EXPECT_FALSE(here->lacks_leader(outlook(), 0s));
  EXPECT_FALSE(here->lacks_leader(outlook(), 10s));
  has_leader = true;
  EXPECT_FALSE(here->lacks_leader(outlook(), 10s));
  has_leader = false;
  EXPECT_FALSE(here->lacks_leader(outlook(), 11s)) << "a voter was known in between";
  EXPECT_TRUE(here->lacks_leader(outlook(), 22s));
}

} // namespace
} // namespace gossamer::actors
