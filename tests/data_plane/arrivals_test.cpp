#include "gossamer/actors/data_plane/arrivals.hpp"
#include "gossamer/actors/data_plane/detail/letter_box.hpp"

#include <gmock/gmock.h>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class arrivals_test : public testing::Test {
protected:
  void deliver(life to, std::uint64_t number, std::uint32_t from_node = 1) {
    in.deliver(from_node, to, test::numbered_frame(pool, 0, number, 10));
  }
  void attach(life who) {
    sinks.attach(who, [this](const frame& f) { got.push_back(f.label.step); });
    in.attached(who.who);
  }

  buffer_pool pool;
  sink_table sinks;
  arrivals in{sinks, {.most_waiting_frames = 3}};
  std::vector<std::uint64_t> got;
};

TEST_F(arrivals_test, wait_for_a_life_that_is_not_attached_yet_and_keep_their_order) {
  in.host({5});
  deliver({5, 0}, 1);
  deliver({5, 1}, 2);
  deliver({5, 1}, 3);
  attach({5, 1});
  deliver({5, 1}, 4);
  EXPECT_THAT(got, ElementsAre(2, 3, 4)) << "the first is for a life that is over";
}

TEST_F(arrivals_test, do_not_overtake_those_that_wait) {
  in.host({5});
  deliver({5, 0}, 1);
  sinks.attach({5, 0}, [this](const frame& f) { got.push_back(f.label.step); });
  deliver({5, 0}, 2);
  in.attached(5);
  EXPECT_THAT(got, ElementsAre(1, 2));
}

TEST_F(arrivals_test, are_lost_one_by_one_to_a_sink_that_throws) {
  in.host({5});
  for (std::uint64_t number = 1; number <= 3; ++number)
    deliver({5, 0}, number);
  sinks.attach({5, 0}, [this](const frame& f) {
    if (f.label.step == 2)
      throw error(errc::bad_packet, "it is not wanted");
    got.push_back(f.label.step);
  });
  EXPECT_EQ(test::refusal_of([&] { in.attached(5); }), "it is not wanted");
  in.attached(5);
  EXPECT_THAT(got, ElementsAre(1, 3)) << "none comes twice";
}

TEST_F(arrivals_test, are_dropped_for_those_who_are_not_here_or_were) {
  in.host({5});
  attach({5, 2});
  for (std::uint64_t i = 0; i < 10; ++i) {
    deliver({6, 0}, i);
    deliver({5, 1}, i);
  }
  EXPECT_THAT(got, IsEmpty());
}

TEST_F(arrivals_test, wait_in_bounded_number_of_each_node) {
  in.host({5});
  for (std::uint64_t i = 0; i < 3; ++i)
    deliver({5, 0}, i);
  EXPECT_THAT(test::refusal_of([&] { deliver({5, 0}, 3); }), HasSubstr("3 frames"));
  deliver({5, 0}, 3, 2);
  attach({5, 0});
  EXPECT_EQ(got.size(), 4u);
  deliver({5, 1}, 5);
}

TEST(letter_box, wakes_its_thread_for_the_next_letter_where_memory_has_ended) {
  int times = 0;
  detail::letter_box box{[&] {
    if (++times == 1)
      throw std::bad_alloc{};
  }};
  EXPECT_THROW(box.attached(1), std::bad_alloc);
  box.attached(2);
  EXPECT_EQ(times, 2);
  EXPECT_EQ(box.take().attached, (std::vector<rank>{1, 2}));
}

} // namespace
} // namespace gossamer::actors
