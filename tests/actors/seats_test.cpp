#include "gossamer/actors/agreement/seats.hpp"

#include <gmock/gmock.h>

#include <set>

namespace gossamer::actors::consensus {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using enum health::state;

/// Returns a resolution with three places, of which 2 is not taken.
resolution two_of_three() {
  auto first = founding({0, 1, 2}, {0, 1}, 100, {2});
  first.nodes[0] = {0, {"a", 1}, {"a", 2}};
  first.nodes[1] = {0, {"b", 1}, {"b", 2}};
  return first;
}

seats begun() {
  seats s{3};
  s.adopt(two_of_three());
  return s;
}

TEST(seats, are_what_resolutions_say) {
  seats s{3};
  EXPECT_THAT(s.adopt(two_of_three()), ElementsAre(0, 1));
  EXPECT_THAT(s.adopt(two_of_three()), IsEmpty());
  EXPECT_TRUE(s.is_well(1, 0));
  EXPECT_EQ(s[1].by.control, (endpoint{"b", 2}));
  EXPECT_FALSE(s[2].taken);
  auto next = two_of_three();
  next.nodes[1] = {1024, {"c", 1}, {"c", 2}};
  EXPECT_THAT(s.adopt(next), ElementsAre(1));
  EXPECT_TRUE(s.is_well(1, 1024));
  EXPECT_EQ(s[1].by.data, (endpoint{"c", 1}));
}

TEST(seats, are_of_whoever_is_agreed_on_anew_and_not_of_one_that_was_admitted_elsewhere) {
  auto s = begun();
  auto without = two_of_three();
  without.nodes.erase(1);
  s.adopt(without);
  s.believe({1, 0, gone});
  EXPECT_TRUE(s.admit(1, {1024, {}, {}}));
  EXPECT_THAT(s.adopt(two_of_three()), ElementsAre(1)) << "another leader has heard the former one";
  EXPECT_TRUE(s.is_well(1, 0));
}

TEST(seats, are_not_taken_from_one_of_whom_a_resolution_has_not_heard_yet) {
  auto s = begun();
  s.believe({1, 0, gone});
  EXPECT_TRUE(s.admit(1, {1024, {}, {}}));
  EXPECT_THAT(s.adopt(two_of_three()), IsEmpty());
  EXPECT_TRUE(s.is_well(1, 1024));
}

TEST(seats, believe_what_is_seen_of_the_present_life) {
  auto s = begun();
  EXPECT_TRUE(s.believe({1, 0, suspected}));
  EXPECT_FALSE(s.believe({1, 0, suspected})) << "that is no news";
  EXPECT_TRUE(s.believe({1, 0, gone}));
  s.meet(1, {5, {}, {}});
  EXPECT_FALSE(s.believe({1, 0, gone})) << "of a former life";
  EXPECT_TRUE(s.is_well(1, 5));
}

TEST(seats, believe_in_a_leader_that_has_just_been_agreed_on_and_in_nobody_else_that_was_silent) {
  auto s = begun();
  s.believe({0, 0, suspected});
  s.believe({1, 0, suspected});
  s.adopt(two_of_three());
  EXPECT_TRUE(s.is_well(0, 0));
  EXPECT_FALSE(s.is_well(1, 0));
}

TEST(seats, are_kept_for_a_candidate_without_a_change_for_anybody_else) {
  auto s = begun();
  s.believe({1, 0, gone});
  const auto before = s;
  const auto kept = s.keep(1, 7);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->node, 1u);
  EXPECT_EQ(s[1].by, before[1].by);
  EXPECT_EQ(s[1].is, gone);
  EXPECT_FALSE(s.keep(1, 7)) << "it is kept";
  EXPECT_EQ(s.keep(std::nullopt, 7)->node, 2u) << "another one that is free";
  EXPECT_FALSE(s.keep(std::nullopt, 7)) << "nothing is";
  s.release(*kept);
  EXPECT_EQ(s[1], before[1]);
  EXPECT_EQ(s.keep(std::nullopt, 7)->node, 1u) << "any";
}

TEST(seats, are_the_silent_ones_again_when_they_are_heard_before_the_candidate_is_ready) {
  auto s = begun();
  s.believe({1, 0, gone});
  const auto kept = *s.keep(1, 7);
  s.believe({1, 0, well}); // the silent member, still agreed on, is heard again
  EXPECT_FALSE(s.admit(1, {kept.life, {}, {}}));
  EXPECT_TRUE(s.is_well(1, 0));
  s.release(kept);
  s.believe({1, 0, gone});
  EXPECT_TRUE(s.admit(1, {s.keep(1, 7)->life, {}, {}}));
  EXPECT_FALSE(s.believe({1, 0, well})) << "it has been replaced";
}

TEST(seats, are_given_in_lives_that_no_other_leader_gives) {
  auto s = begun();
  s.believe({1, 0, gone});
  std::set<std::uint32_t> given;
  for (std::uint32_t by = 1; by < 4; ++by)
    for (int k = 0; k < 5; ++k) {
      const auto kept = *s.keep(1, by);
      EXPECT_TRUE(given.insert(kept.life).second);
      EXPECT_EQ(kept.life, *given.rbegin()) << "later ones are higher";
      EXPECT_TRUE(seats::may_exist(kept.life, by));
      EXPECT_FALSE(seats::may_exist(kept.life, by - 1));
      s.release(kept);
    }
}

TEST(seats, are_not_kept_for_more_than_there_are_lives_under_a_resolution) {
  auto s = begun();
  s.believe({1, 0, gone});
  for (std::uint32_t k = 0; k < seats::most_candidates; ++k)
    s.release(*s.keep(1, 1));
  EXPECT_FALSE(s.keep(1, 1));
  EXPECT_TRUE(s.keep(1, 2)) << "the next resolution has lives of its own";
}

TEST(seats, are_given_to_one_that_a_leader_admitted_which_has_died_since) {
  auto s = begun();
  EXPECT_TRUE(s.admit(2, {1025, {"d", 1}, {"d", 2}}));
  EXPECT_FALSE(s.admit(2, {1024, {}, {}})) << "another one was admitted later";
  s.believe({2, 1025, gone});
  const auto kept = *s.keep(2, 3);
  EXPECT_FALSE(s.admit(2, {1026, {}, {}})) << "a later candidate prepares";
  EXPECT_TRUE(s.admit(2, {kept.life, {}, {}}));
}

} // namespace
} // namespace gossamer::actors::consensus
