#include "gossamer/actors/worker/cut.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {

namespace {

using testing::IsEmpty;
using testing::SizeIs;

frame model_of(rank source) { return {.source = source}; }

/// Hears a marker as a worker does: the frames that have waited for an earlier cut are handed in first.
std::vector<frame> hears(cut& c, rank from, std::uint64_t number) {
  auto waited = c.order(number);
  c.marker(from, number);
  return waited;
}

TEST(cut, is_due_when_it_is_ordered_and_once) {
  cut c;
  EXPECT_FALSE(c.is_due());
  EXPECT_THAT(c.order(3), IsEmpty());
  ASSERT_TRUE(c.is_due());
  EXPECT_EQ(c.due(), 3u);
  EXPECT_THAT(c.saved(), IsEmpty());
  EXPECT_FALSE(c.is_due());
  EXPECT_THAT(c.order(3), IsEmpty());
  hears(c, 1, 3);
  EXPECT_THAT(c.order(2), IsEmpty());
  EXPECT_FALSE(c.is_due()) << "it has passed here already";
}

TEST(cut, is_due_when_a_peer_is_past_it) {
  cut c;
  hears(c, 1, 5);
  EXPECT_TRUE(c.is_due());
  EXPECT_EQ(c.due(), 5u);
}

TEST(cut, waits_for_the_end_of_an_exchange) {
  cut c;
  c.begin({1, 7});
  EXPECT_THAT(c.order(1), IsEmpty());
  EXPECT_TRUE(c.is_ordered());
  EXPECT_FALSE(c.is_due());
  c.end({1, 7});
  EXPECT_TRUE(c.is_due());
}

TEST(cut, does_not_wait_where_the_answer_will_be_one_from_behind_it) {
  cut c;
  c.begin({1, 7});
  hears(c, 1, 1);
  EXPECT_TRUE(c.is_due());
}

TEST(cut, waits_where_the_answer_came_before_the_marker) {
  cut c;
  c.begin({1, 7});
  c.answered({2, 7});
  c.answered({1, 7});
  hears(c, 1, 1);
  EXPECT_FALSE(c.is_due());
  c.end({1, 7});
  EXPECT_TRUE(c.is_due());
}

TEST(cut, waits_for_each_of_several_exchanges_also_with_one_peer) {
  cut c;
  for (const cut::exchange& e : {cut::exchange{1, 7}, {1, 8}, {2, 9}})
    c.begin(e);
  c.answered({1, 7});
  hears(c, 1, 1); // the answer to 8 will be from behind the cut, that to 7 is not
  hears(c, 2, 1);
  EXPECT_FALSE(c.is_due());
  c.end({1, 7});
  EXPECT_TRUE(c.is_due());
  EXPECT_THAT(c.saved(), IsEmpty());
  hears(c, 1, 2);
  EXPECT_FALSE(c.is_due()) << "the question to 2 may be answered before its next marker";
}

TEST(cut, keeps_what_comes_from_behind_it_meanwhile_and_nothing_else) {
  cut c;
  auto early = model_of(2), of_the_asked = model_of(1), late = model_of(2);
  EXPECT_FALSE(c.keeps(early));
  c.begin({1, 7});
  hears(c, 2, 1);
  EXPECT_FALSE(c.is_due());
  EXPECT_TRUE(c.keeps(late));
  EXPECT_FALSE(c.keeps(of_the_asked));
  c.end({1, 7});
  EXPECT_THAT(c.saved(), SizeIs(1));
  auto next = model_of(2);
  EXPECT_FALSE(c.keeps(next));
}

// Its marker would come before an answer that its former life owed, and whose effect it has.
TEST(cut, of_a_masters_next_life_waits_until_each_worker_has_been_heard) {
  cut c;
  c.expect_word_of({0, 1, 2});
  EXPECT_THAT(c.order(4), IsEmpty());
  c.hear(0); // asks again
  EXPECT_FALSE(c.is_due());
  hears(c, 1, 4); // has nothing open
  auto question = model_of(1);
  EXPECT_TRUE(c.keeps(question));
  hears(c, 2, 3);
  EXPECT_FALSE(c.is_due()) << "a question may be open across an older cut";
  hears(c, 2, 4);
  EXPECT_TRUE(c.is_due());
  EXPECT_THAT(c.saved(), SizeIs(1));
  EXPECT_THAT(c.order(5), IsEmpty());
  EXPECT_TRUE(c.is_due()) << "later ones wait for nobody";
}

// The leader gives a checkpoint up when a worker is lost that would save it, and orders the next.
TEST(cut, takes_no_peer_to_be_past_it_for_the_marker_of_one_that_was_given_up) {
  cut c;
  c.begin({2, 0});
  EXPECT_THAT(c.order(2), IsEmpty());
  hears(c, 2, 1); // under way for long
  EXPECT_FALSE(c.is_due()) << "the answer may still be from before the peer's cut";
  auto answer = model_of(2);
  EXPECT_FALSE(c.keeps(answer));
  hears(c, 2, 2);
  EXPECT_TRUE(c.is_due()) << "the answer is not";
}

TEST(cut, forgets_who_was_past_the_one_before_when_another_is_ordered) {
  for (const bool by_peer : {false, true}) {
    cut c;
    c.begin({1, 7});
    c.begin({2, 8});
    hears(c, 2, 1);
    auto answer = model_of(2);
    ASSERT_TRUE(c.keeps(answer));
    const auto waited = by_peer ? hears(c, 1, 2) : c.order(2);
    ASSERT_THAT(waited, SizeIs(1)) << "it comes before this cut";
    EXPECT_EQ(waited[0].source, 2u);
    EXPECT_FALSE(c.is_due());
    c.answered({2, 8});
    hears(c, 1, 2);
    hears(c, 2, 2);
    EXPECT_FALSE(c.is_due()) << "its half is to come";
    c.end({2, 8});
    EXPECT_TRUE(c.is_due());
    EXPECT_EQ(c.due(), 2u);
    EXPECT_THAT(c.saved(), IsEmpty());
  }
}

TEST(cut, is_told_to_each_peer_once_and_to_no_life_that_began_after_it) {
  cut c;
  EXPECT_FALSE(c.news_for(1)) << "there has been none";
  static_cast<void>(c.order(4));
  EXPECT_FALSE(c.news_for(1)) << "this one is still to come";
  static_cast<void>(c.saved());
  EXPECT_EQ(c.news_for(1), 4u);
  EXPECT_FALSE(c.news_for(1));
  c.forget(2);
  EXPECT_FALSE(c.news_for(2));
  static_cast<void>(c.order(5));
  static_cast<void>(c.saved());
  EXPECT_EQ(c.news_for(1), 5u);
  EXPECT_EQ(c.news_for(2), 5u);
}

} // namespace

} // namespace gossamer::actors
