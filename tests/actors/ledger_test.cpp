// Counts that many processes keep, and merge in any order.
#include "gossamer/actors/run/ledger.hpp"

#include <gtest/gtest.h>

namespace gossamer::actors {
namespace {

TEST(ledger, counts_the_end_of_each_incarnation_once) {
  ledger l{3};
  EXPECT_TRUE(l.end(0, 0, true));
  EXPECT_FALSE(l.end(0, 0, true));
  EXPECT_TRUE(l.end(1, 0, false)) << "it has left";
  EXPECT_FALSE(l.end(1, 0, true)) << "what has left is not lost";
  EXPECT_TRUE(l.end(0, 1, true));
  EXPECT_EQ(l.lost(), 2u);
}

TEST(ledger, counts_workers_that_come_once) {
  ledger l{3};
  l.come(0, 1);
  l.come(0, 1);
  l.come(2, 0);
  EXPECT_EQ(l.returned(), 2u);
}

// A leader counts a loss, tells its books, and dies before others agree to the loss: the next one hears of it again.
TEST(ledger, does_not_count_again_what_a_merged_one_has_counted) {
  ledger former{3};
  former.record(0, 0, 7, {});
  former.end(0, 0, true);
  former.come(1, 1);
  for (const bool books_come_first : {true, false}) {
    ledger next{3};
    if (books_come_first)
      next.merge(former);
    EXPECT_EQ(next.end(0, 0, true), !books_come_first);
    next.come(1, 1);
    next.merge(former);
    EXPECT_EQ(next.lost(), 1u);
    EXPECT_EQ(next.returned(), 1u);
    EXPECT_EQ(next.steps(0), 7u);
  }
}

// The own process of a worker that has begun anew may report before anybody has counted the end of its former life.
TEST(ledger, counts_an_end_though_a_later_incarnation_is_known) {
  ledger l{1};
  l.record(0, 1, 3, {});
  EXPECT_TRUE(l.end(0, 0, true));
  EXPECT_EQ(l.lost(), 1u);
  EXPECT_EQ(l.steps(0), 3u);
}

} // namespace
} // namespace gossamer::actors
