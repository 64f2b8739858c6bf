#include "gossamer/actors/worker/cut.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {

namespace {

using testing::IsEmpty;
using testing::SizeIs;

frame model_of(rank source) { return {.source = source}; }

TEST(cut, is_due_when_it_is_ordered_and_once) {
  cut c;
  EXPECT_FALSE(c.is_due());
  c.order(3);
  ASSERT_TRUE(c.is_due());
  EXPECT_EQ(c.due(), 3u);
  EXPECT_THAT(c.saved(), IsEmpty());
  EXPECT_FALSE(c.is_due());
  c.order(3);
  c.marker(1, 3);
  c.order(2);
  EXPECT_FALSE(c.is_due()) << "it has passed here already";
}

TEST(cut, is_due_when_a_peer_is_past_it) {
  cut c;
  c.marker(1, 5);
  EXPECT_TRUE(c.is_due());
  EXPECT_EQ(c.due(), 5u);
}

TEST(cut, waits_for_the_end_of_an_exchange) {
  cut c;
  c.begin({1, 7});
  c.order(1);
  EXPECT_TRUE(c.is_ordered());
  EXPECT_FALSE(c.is_due());
  c.end({1, 7});
  EXPECT_TRUE(c.is_due());
}

TEST(cut, does_not_wait_where_the_answer_will_be_one_from_behind_it) {
  cut c;
  c.begin({1, 7});
  c.marker(1, 1);
  EXPECT_TRUE(c.is_due());
}

TEST(cut, waits_where_the_answer_came_before_the_marker) {
  cut c;
  c.begin({1, 7});
  c.answered({2, 7});
  c.answered({1, 7});
  c.marker(1, 1);
  EXPECT_FALSE(c.is_due());
  c.end({1, 7});
  EXPECT_TRUE(c.is_due());
}

TEST(cut, waits_for_each_of_several_exchanges_also_with_one_peer) {
  cut c;
  for (const cut::exchange& e : {cut::exchange{1, 7}, {1, 8}, {2, 9}})
    c.begin(e);
  c.answered({1, 7});
  c.marker(1, 1); // the answer to 8 will be from behind the cut, that to 7 is not
  c.marker(2, 1);
  EXPECT_FALSE(c.is_due());
  c.end({1, 7});
  EXPECT_TRUE(c.is_due());
  c.saved();
  c.marker(1, 2);
  EXPECT_FALSE(c.is_due()) << "the question to 2 may be answered before its next marker";
}

TEST(cut, keeps_what_comes_from_behind_it_meanwhile_and_nothing_else) {
  cut c;
  auto early = model_of(2), of_the_asked = model_of(1), late = model_of(2);
  EXPECT_FALSE(c.keeps(early));
  c.begin({1, 7});
  c.marker(2, 1);
  EXPECT_FALSE(c.is_due());
  EXPECT_TRUE(c.keeps(late));
  EXPECT_FALSE(c.keeps(of_the_asked));
  c.end({1, 7});
  EXPECT_THAT(c.saved(), SizeIs(1));
  auto next = model_of(2);
  EXPECT_FALSE(c.keeps(next));
}

} // namespace

} // namespace gossamer::actors
