#include "gossamer/actors/agreement/conflicts.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using complaints = std::vector<std::pair<std::uint32_t, std::uint32_t>>; ///< pairs of accusing and accused node

std::vector<std::uint32_t> lost_after(const complaints& all) {
  conflicts c;
  for (const auto& [by, about] : all)
    c.add(by, about, "", 5s);
  std::vector<std::uint32_t> result;
  for (const auto& one : c.settle(6s))
    result.push_back(one.node);
  return result;
}

TEST(conflicts, cost_whoever_reaches_the_fewest) {
  EXPECT_THAT(lost_after({{3, 1}, {3, 2}, {3, 4}}), ElementsAre(3));
  EXPECT_THAT(lost_after({{3, 1}, {1, 3}, {3, 2}}), ElementsAre(3));
  EXPECT_THAT(lost_after({{1, 3}, {2, 3}}), ElementsAre(3));
}

TEST(conflicts, of_two_cost_the_one_that_was_complained_of_first) {
  EXPECT_THAT(lost_after({{1, 2}}), ElementsAre(2));
  EXPECT_THAT(lost_after({{2, 1}, {1, 2}}), ElementsAre(1));
}

TEST(conflicts, count_a_pair_once_however_often_it_is_complained_of) {
  EXPECT_THAT(lost_after({{1, 2}, {2, 1}, {1, 2}, {3, 4}, {3, 5}}), ElementsAre(3, 2));
}

TEST(conflicts, take_two_nodes) { EXPECT_THAT(lost_after({{0, 0}, {3, 3}}), IsEmpty()); }

TEST(conflicts, never_cost_the_leader) {
  EXPECT_THAT(lost_after({{1, 0}, {2, 0}, {0, 3}}), testing::UnorderedElementsAre(1, 2, 3));
}

TEST(conflicts, are_collected_for_a_moment) {
  conflicts c;
  EXPECT_THAT(c.settle(100s), IsEmpty());
  c.add(1, 2, "of 2", 100s);
  EXPECT_THAT(c.settle(100s + conflicts::collected_for - 1ns), IsEmpty());
  c.add(3, 2, "also of 2", 100s + 500ms);
  const auto lost = c.settle(100s + conflicts::collected_for);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].node, 2u);
  EXPECT_EQ(lost[0].why, "of 2");
  EXPECT_THAT(c.settle(200s), IsEmpty());
}

TEST(conflicts, end_with_a_node_that_is_lost_for_another_reason) {
  conflicts c;
  c.add(1, 2, "", 0s);
  c.add(3, 4, "", 0s);
  c.forget(2);
  const auto lost = c.settle(1s);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].node, 4u);
}

TEST(conflicts, bar_who_was_lost_each_time_for_twice_as_long) {
  conflicts c{0, 6s};
  c.add(1, 2, "", 0s);
  ASSERT_EQ(c.settle(1s).size(), 1u);
  EXPECT_TRUE(c.bars(2, 7s - 1ns));
  EXPECT_FALSE(c.bars(2, 7s));
  EXPECT_FALSE(c.bars(1, 1s)) << "whoever complained";
  c.add(1, 2, "", 10s);
  ASSERT_EQ(c.settle(11s).size(), 1u);
  EXPECT_TRUE(c.bars(2, 23s - 1ns));
  EXPECT_FALSE(c.bars(2, 23s));
}

TEST(conflicts, do_not_bar_who_was_cut_off_from_everybody) {
  conflicts c{0, 6s};
  c.add(1, 2, "", 0s);
  ASSERT_EQ(c.settle(1s).size(), 1u);
  c.add(1, 2, "", 1s);
  c.pardon(2);
  EXPECT_FALSE(c.bars(2, 2s));
  EXPECT_THAT(c.settle(3s), IsEmpty());
}

} // namespace
} // namespace gossamer::actors
