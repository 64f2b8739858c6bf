// What the next resolution says of views and steps.
#include "gossamer/actors/runtime/consensus/planning.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors::consensus {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class planned : public testing::Test {
protected:
  planned() : last_(founding({0, 1, 2, 3}, {0, 1, 2}, 100)) {}

  std::optional<decision> plan(interrupted_round on_loss, std::vector<standing> workers, bool stop = false) const {
    return membership_rules({.synchronous = true, .on_loss = on_loss})({last_, workers, stop});
  }
  static standing at(rank who, std::uint64_t step, std::uint64_t next_exchange = 0) {
    return {.who = who, .incarnation = 0, .line = 1, .step = step, .next_exchange = next_exchange};
  }

  resolution last_;
};

TEST_F(planned, repetitions_begin_with_the_next_exchange_of_the_furthest) {
  const auto next = plan(interrupted_round::repeat, {at(0, 3, 8), at(1, 7, 8), at(2, 3, 4)});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->view.first_step, 8u);
  EXPECT_EQ(next->view.number, 2u);
  EXPECT_THAT(next->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(2, 0)));
  EXPECT_THAT(next->view.donors, UnorderedElementsAre(Pair(2, 0))) << "it is behind";
}

TEST_F(planned, rounds_are_finished_a_step_before_the_next_view) {
  const auto next = plan(interrupted_round::finish, {at(0, 3), at(1, 4), at(2, 3)});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->view.first_step, 5u);
  EXPECT_THAT(next->view.donors, IsEmpty());
  last_.what.limit = 5;
  EXPECT_EQ(plan(interrupted_round::finish, {at(0, 3), at(1, 4)}, true)->limit, 5u);
}

TEST_F(planned, who_waits_for_a_state_in_vain_is_started_anew_where_others_count_on_it) {
  last_.what.number = 2;
  last_.what.view = {2, 5, {{0, 0}, {1, 0}, {3, 2}}, {{3, 1}}};
  const auto in = [](standing s) { return s.line = 2, s; };
  const standing waits{.who = 3, .incarnation = 2};
  EXPECT_EQ(plan(interrupted_round::finish, {in(at(0, 6)), in(at(1, 5)), waits})->view, last_.what.view);
  const auto finish = plan(interrupted_round::finish, {in(at(0, 6)), waits});
  EXPECT_THAT(finish->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(3, 3)));
  const auto repeat = plan(interrupted_round::repeat, {in(at(0, 6)), waits});
  EXPECT_THAT(repeat->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(3, 2)));
}

TEST_F(planned, the_best_model_that_is_left_is_everybodys) {
  last_.what.number = 4;
  last_.what.view = {4, 9, {{0, 0}}, {}};
  const standing line_2{.who = 1, .incarnation = 0, .line = 2, .step = 9}, line_3{.who = 2, .line = 3, .step = 7};
  const auto next = plan(interrupted_round::repeat, {line_2, line_3, {.who = 3}});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->view.first_step, 7u);
  EXPECT_THAT(next->view.donors, UnorderedElementsAre(Pair(1, 2), Pair(3, 2)));
  EXPECT_FALSE(plan(interrupted_round::repeat, {{.who = 3}})) << "nobody has a model";
}

} // namespace
} // namespace gossamer::actors::consensus
