// A master's log of questions, also of those that come again.
#include "gossamer/actors/collectives/request_log.hpp"

#include <gtest/gtest.h>

namespace gossamer::actors {
namespace {

frame question(rank from, std::uint32_t incarnation, std::uint64_t life, std::uint64_t count) {
  frame f;
  f.source = from;
  f.incarnation = incarnation;
  f.label = {frame_kind::request, life << bits_of_count | count};
  return f;
}

TEST(request_log, takes_each_question_of_a_life_once) {
  request_log log;
  EXPECT_FALSE(log.knows(question(0, 0, 0, 1)));
  EXPECT_TRUE(log.accept(question(0, 0, 0, 1)));
  EXPECT_FALSE(log.accept(question(0, 0, 0, 1))) << "the answer was lost";
  EXPECT_EQ(log.waiting().size(), 1u);
  EXPECT_TRUE(log.accept(question(0, 0, 0, 2)));
  EXPECT_FALSE(log.knows(question(0, 1, 1, 1)));
  EXPECT_TRUE(log.accept(question(0, 1, 1, 1)));
}

class request_log_of_a_checkpoint : public testing::Test {
protected:
  /// The log goes on in another run, where all incarnations are 0.
  request_log gone_on() {
    archive_writer saved;
    log.fields(saved);
    const auto bytes = saved.bytes();
    archive_reader from{bytes, buffer_pool{}};
    request_log next;
    next.fields(from);
    next.begin_run();
    return next;
  }

  request_log log;
};

TEST_F(request_log_of_a_checkpoint, knows_a_worker_that_had_been_lost_and_came_back) {
  log.accept(question(2, 1, 1, 7));
  auto next = gone_on();
  EXPECT_TRUE(next.knows(question(2, 0, 1, 7)));
  EXPECT_FALSE(next.accept(question(2, 0, 1, 7))) << "the run was cut off before its answer came";
  EXPECT_TRUE(next.accept(question(2, 0, 1, 8)));
}

TEST_F(request_log_of_a_checkpoint, does_not_take_another_worker_in_a_rank_for_the_former_one) {
  log.accept(question(2, 0, 0, 100)); // lost later, so that the checkpoint has no state of it
  auto next = gone_on();
  EXPECT_FALSE(next.knows(question(2, 0, 5, 3)));
  EXPECT_TRUE(next.accept(question(2, 0, 5, 3)));
}

} // namespace
} // namespace gossamer::actors
