// The views and steps of the next resolution.
#include "gossamer/actors/agreement/planning.hpp"

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

TEST_F(planned, a_state_comes_from_the_own_island_or_one_for_all_of_an_island) {
  last_ = founding({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2}, 100);
  const auto rules = membership_rules({.synchronous = true}, most_workers, {},
                                      topology::islands{std::vector<std::size_t>{2, 2, 2, 2}});
  const auto without_state = [](rank who) { return standing{.who = who, .incarnation = 1, .line = 0, .step = 0}; };
  const auto next = rules({last_, std::vector{at(0, 9), at(1, 9), without_state(2), without_state(3), at(4, 9),
                                              without_state(5), without_state(6), without_state(7)}});
  ASSERT_TRUE(next);
  const auto& donors = next->view.donors;
  EXPECT_EQ(donors.at(5), 4u);
  EXPECT_EQ(donors.at(2), donors.at(3));
  EXPECT_EQ(donors.at(6), donors.at(7));
  EXPECT_NE(donors.at(2), donors.at(6)) << "no donor serves all";
}

TEST_F(planned, rounds_are_finished_a_step_before_the_next_view) {
  const auto next = plan(interrupted_round::finish, {at(0, 3), at(1, 4), at(2, 3)});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->view.first_step, 5u);
  EXPECT_THAT(next->view.donors, IsEmpty());
  last_.what.limit = 5;
  EXPECT_EQ(plan(interrupted_round::finish, {at(0, 3), at(1, 4)}, true)->limit, 5u);
}

TEST_F(planned, what_is_left_to_compute_is_shared_out_among_those_who_are_there) {
  const algorithm_traits finish{.synchronous = true, .on_loss = interrupted_round::finish};
  const auto by_updates = [&](std::vector<standing> workers, bool stop = false) {
    return membership_rules(finish, most_workers, 4 * 100)({last_, workers, stop});
  };
  const auto three = by_updates({at(0, 39), at(1, 39), at(2, 38)});
  EXPECT_EQ(three->view.first_step, 40u);
  EXPECT_EQ(three->view.updates_ahead, 40) << "4 x 40 = 40 + 3 x 40";
  EXPECT_EQ(three->limit, 120u) << "240 gradients of three workers";
  EXPECT_EQ(by_updates({at(0, 98), at(1, 98)})->limit, 101u) << "4 gradients of two workers";
  EXPECT_EQ(by_updates({at(0, 99), at(1, 99)})->limit, 100u) << "somebody may have done the last step";
  EXPECT_EQ(by_updates({at(0, 39), at(1, 39)}, true)->limit, 40u) << "who is stopped does no more";
  EXPECT_EQ(plan(interrupted_round::finish, {at(0, 39), at(1, 39)})->limit, 100u) << "--steps are of each worker";

  const auto in = [](standing s, std::uint32_t line) { return s.line = line, s; };
  last_.what = *three;
  const auto four = by_updates({in(at(0, 59), 2), in(at(1, 59), 2), in(at(2, 59), 2), {.who = 3}});
  EXPECT_EQ(four->view.first_step, 60u);
  EXPECT_EQ(four->view.updates_ahead, 40 - 60);
  EXPECT_EQ(four->limit, 105u) << "400 - 4 x 60 + 20 = 180 gradients of four workers";
}

TEST_F(planned, those_who_are_there_do_the_steps_before_the_exchange_with_which_a_view_begins) {
  const algorithm_traits repeat{.synchronous = true, .on_loss = interrupted_round::repeat};
  const auto rules = membership_rules(repeat, most_workers, 4 * 400);
  last_.what.limit = 400;
  const auto in = [](standing s, std::uint32_t line) { return s.line = line, s; };
  const auto two = rules({last_, std::vector{at(0, 20, 100), at(1, 19, 100)}});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->view.first_step, 100u);
  EXPECT_EQ(two->view.updates_ahead, 4 * 20 - 2 * 20);
  EXPECT_EQ(two->limit, 20u + (1600 - 80) / 2);

  last_.what = *two;
  const auto three = rules({last_, std::vector{in(at(0, 130, 200), 2), in(at(1, 130, 200), 2), {.who = 2}}});
  ASSERT_TRUE(three);
  EXPECT_EQ(three->view.first_step, 200u);
  EXPECT_EQ(three->view.updates_ahead, 40 + 2 * 130 - 3 * 130) << "it trains from the state that its donor has now";
  EXPECT_EQ(three->limit, 130u + (1600 - 300 + 1) / 3);
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

TEST_F(planned, a_view_begins_where_the_kind_of_algorithm_demands_it) {
  struct expected {
    algorithm_traits traits;
    std::uint64_t limit, first_step;
  };
  const algorithm_traits none{.synchronous = false};
  const algorithm_traits finish{.synchronous = true, .on_loss = interrupted_round::finish};
  const algorithm_traits repeat{.synchronous = true, .on_loss = interrupted_round::repeat};
  for (const auto& [traits, limit, first_step] :
       {expected{none, 100, 0}, expected{finish, 100, 6}, expected{finish, 6, 6}, expected{finish, 5, 5},
        expected{repeat, 100, 5}, expected{repeat, 3, 3}}) {
    last_.what.limit = limit;
    const auto next = membership_rules(traits)({last_, std::vector{at(0, 4), at(2, 5), at(3, 4)}});
    ASSERT_TRUE(next);
    EXPECT_EQ(next->view.first_step, first_step) << "limit " << limit;
  }
}

TEST_F(planned, steps_of_those_without_the_model_do_not_count) {
  const standing without{.who = 2, .incarnation = 0, .line = 0, .step = 90, .next_exchange = 90};
  for (const auto on_loss : {interrupted_round::finish, interrupted_round::repeat}) {
    const auto next = plan(on_loss, {at(0, 4), at(1, 5), without}, true);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->limit, 6u);
    EXPECT_LE(next->view.first_step, 6u);
  }
}

TEST_F(planned, those_a_round_behind_get_the_state_of_one_that_is_not_where_rounds_are_repeated) {
  const std::vector workers{at(0, 4), at(1, 5), at(2, 4)};
  const auto repeat = plan(interrupted_round::repeat, workers);
  EXPECT_THAT(repeat->view.donors, UnorderedElementsAre(Pair(0, 1), Pair(2, 1)));
  EXPECT_THAT(repeat->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(2, 0)));
  EXPECT_THAT(plan(interrupted_round::finish, workers)->view.donors, IsEmpty()) << "these do step 5 in the old view";
}

TEST_F(planned, those_a_round_behind_go_on_when_all_others_are_lost) {
  last_.what.number = 2;
  last_.what.view = {2, 5, {{0, 0}, {1, 0}, {2, 0}}, {{0, 1}, {2, 1}}};
  const auto next = plan(interrupted_round::repeat, {at(0, 4), at(2, 4), {.who = 3}});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->view.first_step, 4u);
  EXPECT_THAT(next->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(2, 0), Pair(3, 3)));
  EXPECT_THAT(next->view.donors, UnorderedElementsAre(Pair(2, 0), Pair(3, 0)));
}

TEST_F(planned, all_pause_before_one_step_and_then_the_leaving_are_left_out) {
  const auto standing_at = [](rank who, std::uint64_t step, bool retires, bool paused) {
    auto s = at(who, step, step);
    s.retires = retires;
    s.paused = paused;
    return s;
  };
  for (const auto on_loss : {interrupted_round::finish, interrupted_round::repeat}) {
    last_ = founding({0, 1, 2, 3}, {0, 1, 2}, 100);
    const auto pause = plan(on_loss, {at(0, 3, 3), at(1, 4, 4), at(2, 3, 3), standing_at(3, 3, true, false)});
    ASSERT_TRUE(pause);
    EXPECT_EQ(pause->view, last_.what.view) << "nobody has left";
    EXPECT_EQ(pause->parting, (parting{5, {{3, 0}}})) << "step 4 may be under way; the heirs go round";
    last_.what.parting = pause->parting;
    const auto early = plan(on_loss, {standing_at(0, 5, false, true), standing_at(1, 5, false, true), at(2, 4, 4),
                                      standing_at(3, 5, true, true)});
    EXPECT_EQ(early->parting, pause->parting) << "worker 2 has not come so far";
    EXPECT_EQ(early->view, last_.what.view);
    const auto left = plan(on_loss, {standing_at(0, 5, false, true), standing_at(1, 5, false, true),
                                     standing_at(2, 5, false, true), standing_at(3, 5, true, true)});
    EXPECT_THAT(left->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(2, 0)));
    EXPECT_EQ(left->view.first_step, 5u) << "no step is done twice, or without the worker";
    EXPECT_EQ(left->parting, parting{});
  }
}

TEST_F(planned, nobody_leaves_while_somebody_is_lost_or_lacks_a_state_or_as_the_last_with_a_model) {
  auto leaving = at(1, 3);
  leaving.retires = true;
  EXPECT_EQ(plan(interrupted_round::repeat, {at(0, 3), leaving, at(2, 3)})->parting, parting{}) << "worker 3 is lost";
  last_ = founding({0, 1}, {0}, 100);
  EXPECT_EQ(plan(interrupted_round::repeat, {at(0, 3), leaving}, true)->parting, parting{}) << "the run ends";
  auto other = at(0, 3);
  other.retires = true;
  EXPECT_EQ(plan(interrupted_round::repeat, {other, leaving})->parting, parting{}) << "somebody must stay";
  last_.what.number = 2;
  last_.what.view.donors = {{0, 1}};
  leaving.line = 2;
  EXPECT_EQ(plan(interrupted_round::repeat, {{.who = 0}, leaving})->parting, parting{}) << "worker 0 has no state";
}

/// Tries every set of lost workers with every set of workers that return.
TEST_F(planned, who_has_no_model_gets_it_from_one_that_has_and_donors_take_turns) {
  constexpr unsigned workers = 5;
  last_ = founding(std::vector<node_number>(workers), {0}, 100);
  for (const auto& traits : {algorithm_traits{.synchronous = false},
                             algorithm_traits{.synchronous = true, .on_loss = interrupted_round::finish},
                             algorithm_traits{.synchronous = true, .on_loss = interrupted_round::repeat}})
    for (unsigned lost = 0; lost + 1 < 1u << workers; ++lost)
      for (unsigned back = 0; back < 1u << workers; ++back) {
        std::vector<standing> answers;
        std::size_t ready = 0, without = 0;
        for (rank i = 0; i < workers; ++i)
          if ((lost >> i & 1u) == 0)
            answers.push_back(at(i, 3)), ++ready;
          else if ((back >> i & 1u) != 0)
            answers.push_back({.who = i}), ++without;
        const auto next = membership_rules(traits)({last_, answers});
        ASSERT_TRUE(next);
        EXPECT_EQ(next->number, 2u);
        EXPECT_EQ(next->view.number, lost == 0 ? 1u : 2u);
        ASSERT_EQ(next->view.lives.size(), answers.size());
        EXPECT_EQ(next->view.donors.size(), without);
        std::map<rank, std::size_t> given;
        for (const auto& [joiner, donor] : next->view.donors) {
          EXPECT_NE(lost >> joiner & 1u, 0u);
          EXPECT_EQ(lost >> donor & 1u, 0u) << donor << " has nothing to give";
          ++given[donor];
        }
        for (const auto& [donor, times] : given)
          EXPECT_LE(times, (without + ready - 1) / ready);
        for (const auto& [i, life] : next->view.lives)
          EXPECT_EQ(life, next->view.donors.contains(i) ? 2u : 0u) << "the life of " << i;
        ASSERT_FALSE(HasFailure()) << "lost " << lost << ", back " << back;
      }
}

// -- masters ----------------------------------------------------------------------------------------------------------

/// Plans for two workers, then two masters.
class planned_with_masters : public planned {
protected:
  static std::optional<decision> next(const resolution& last, const std::vector<standing>& workers) {
    return membership_rules({.synchronous = false}, 2)({last, workers});
  }
};

TEST_F(planned_with_masters, nothing_changes_when_all_are_current) {
  EXPECT_EQ(next(last_, {at(0, 3), at(1, 4), at(2, 0), at(3, 0)})->view, last_.what.view);
  last_.what.number = 5;
  last_.what.view = {2, 0, {{0, 0}, {1, 0}, {2, 0}, {3, 4}}, {}};
  const auto in = [](standing s) { return s.line = 5, s; };
  const standing restarted{.who = 3, .incarnation = 4, .line = 4}; // its line is over, but a master keeps its own state
  EXPECT_EQ(next(last_, {in(at(0, 3)), in(at(1, 4)), in(at(2, 0)), restarted})->view, last_.what.view);
}

TEST_F(planned_with_masters, a_master_that_is_started_again_has_a_new_life_and_goes_on_from_its_own_state) {
  const auto found = next(last_, {at(0, 3), {.who = 1}, at(2, 0), {.who = 3, .line = 1, .ended = true}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->view.number, 2u);
  EXPECT_THAT(found->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 2), Pair(2, 0), Pair(3, 2)));
  EXPECT_THAT(found->view.donors, UnorderedElementsAre(Pair(1, 0)));
}

TEST_F(planned_with_masters, a_master_whose_state_died_with_its_process_gets_one_from_a_worker_that_lives) {
  const auto found = next(last_, {at(0, 3), at(1, 4), at(2, 0), {.who = 3}});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(2, 0), Pair(3, 2)));
  EXPECT_THAT(found->view.donors, UnorderedElementsAre(Pair(3, 0)));

  last_.what = *found;
  const auto in = [](standing s) { return s.line = 2, s; };
  const standing waiting{.who = 3, .incarnation = 2};
  EXPECT_EQ(next(last_, {in(at(0, 3)), in(at(1, 4)), in(at(2, 0)), waiting})->view, found->view) << "it is on its way";
  const auto later = next(last_, {in(at(1, 4)), in(at(2, 0)), waiting});
  ASSERT_TRUE(later);
  EXPECT_THAT(later->view.donors, UnorderedElementsAre(Pair(3, 1))) << "the donor has died";
}

TEST_F(planned_with_masters, a_master_gives_no_state) {
  EXPECT_FALSE(next(last_, {{.who = 0}, {.who = 1}, at(2, 9), at(3, 9)})) << "no worker has a model";
  last_.what.number = 3;
  const auto found = next(last_, {at(0, 3), {.who = 1}, at(2, 9), at(3, 9)}); // all states are of an earlier line
  ASSERT_TRUE(found);
  EXPECT_THAT(found->view.donors, UnorderedElementsAre(Pair(1, 0)));
}

TEST_F(planned_with_masters, a_lost_master_is_missing_in_the_next_view) {
  const auto found = next(last_, {at(0, 3), at(1, 4), at(3, 0)});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->view.lives, UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(3, 0)));
  EXPECT_THAT(found->view.donors, IsEmpty());
}

// -- checkpoints ------------------------------------------------------------------------------------------------------

TEST_F(planned, states_are_saved_before_the_first_step_that_nobody_has_begun) {
  const std::vector workers{at(0, 3), at(1, 7), at(2, 5), at(3, 3)};
  for (const auto on_loss : {interrupted_round::finish, interrupted_round::repeat}) {
    const auto rules = membership_rules({.synchronous = true, .on_loss = on_loss});
    const auto next = rules({.last = last_, .workers = workers, .stop = false, .save = true});
    EXPECT_EQ(next->save_at, 8u);
    EXPECT_EQ(next->view, last_.what.view) << "nobody came, nobody is missing";
    EXPECT_EQ(next->limit, last_.what.limit);
    last_.what.save_at = 2;
    EXPECT_EQ(rules({.last = last_, .workers = workers, .stop = false, .save = false})->save_at, 2u)
        << "the last one is said again";
  }
}

TEST_F(planned, asynchronous_workers_save_when_they_are_told) {
  const std::vector workers{at(0, 3), at(1, 7), at(2, 5), at(3, 3)};
  const auto next =
      membership_rules({.synchronous = false})({.last = last_, .workers = workers, .stop = false, .save = true});
  EXPECT_EQ(next->save_at, 0u);
}

} // namespace
} // namespace gossamer::actors::consensus
