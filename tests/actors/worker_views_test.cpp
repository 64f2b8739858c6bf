// A worker through changes of view.
#include "worker_fixture.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using namespace testing_support;
using fixture = worker_fixture;

TEST(worker_views, a_wait_for_a_lost_peer_ends_with_nothing) {
  fixture f;
  f.model_from(1, 0);
  EXPECT_EQ(f.seen.waits, 1);
  f.w.adopt(view_of(2, 5, {0, 0, nothing}));
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, nothing}));
  f.model_from(1, 1);
  EXPECT_THAT(f.program.heard, testing::Contains(heard_model{1, 2, nothing}))
      << "in the old view, but known to be lost";
  EXPECT_EQ(f.seen.waits, 1) << "for worker 1 in step 2";
}

TEST(worker_views, epochs_count_the_gradients_of_those_who_are_there) {
  fixture f;
  auto smaller = *view_of(2, 5, {0, 0, nothing});
  smaller.updates_ahead = 5; // 3 x 5 = 5 + 2 x 5
  f.w.adopt(std::make_shared<const view>(smaller));
  EXPECT_EQ(f.w.epoch(4), 12) << "an epoch is one gradient";
  EXPECT_EQ(f.w.epoch(5), 15);
  EXPECT_EQ(f.w.epoch(6), 17);
}

TEST(worker_views, the_number_of_steps_that_are_left_may_grow) {
  fixture f;
  f.w.adopt(view_of(2, 2, {0, nothing, nothing}));
  f.w.hold();
  f.w.proceed(4);
  for (std::uint64_t t = 0; t < 2; ++t)
    f.model_from(1, t), f.model_from(2, t);
  EXPECT_TRUE(f.w.finished());
  EXPECT_EQ(f.program.heard.size(), 2u * 2) << "of steps 0 and 1";

  fixture g;
  g.w.hold();
  g.w.proceed(200);
  for (std::uint64_t t = 0; t < 150; ++t)
    g.model_from(1, t), g.model_from(2, t);
  EXPECT_FALSE(g.w.finished()) << "it was told of 100 steps before";
}

/// The other one may have asked before it saw the view.
TEST(worker_views, what_was_a_neighbour_hears_of_a_cut_before_anything_else) {
  fixture f{0, 0, false, false};
  auto next = *view_of(2, 0, {0, 0, 0});
  const std::vector<topology::graph::edge> edges{{0, 1}, {1, 2}};
  next.mixing =
      std::make_shared<const topology::mixing_matrix>(topology::mixing_matrix::metropolis(topology::graph{3, edges}));
  f.w.adopt(std::make_shared<const view>(next));
  f.host.frames.clear();
  const auto sent = [&] {
    std::vector<std::pair<rank, frame_kind>> all;
    for (const auto& [to, one] : std::exchange(f.host.frames, {}))
      all.emplace_back(to, one.label.kind);
    return all;
  };
  constexpr auto marker = frame_kind::checkpoint, model = frame_kind::model;
  f.w.checkpoint(7);
  EXPECT_THAT(sent(), ElementsAre(Pair(1, marker)));
  f.w.send(2, {model}, {});
  f.w.send(2, {model}, {});
  EXPECT_THAT(sent(), ElementsAre(Pair(2, marker), Pair(2, model), Pair(2, model)));
  f.w.checkpoint(8);
  next.number = 3;
  next.incarnations[2] = 3;
  f.w.adopt(std::make_shared<const view>(next));
  sent();
  f.w.send(2, {model}, {});
  EXPECT_THAT(sent(), ElementsAre(Pair(2, model))) << "that life has begun after the cut";
}

TEST(worker_views, nothing_is_sent_to_the_lost) {
  fixture f;
  f.w.adopt(view_of(2, 5, {0, 0, nothing}));
  for (std::uint64_t t = 0; t < 8; ++t)
    f.model_from(1, t);
  EXPECT_THAT(f.sent_to(1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(f.sent_to(2), ElementsAre(0)) << "before anybody knew";
}

TEST(worker_views, frames_that_the_lost_sent_before_are_used_for_steps_of_their_view) {
  fixture f;
  f.model_from(2, 0);
  f.model_from(2, 1); // worker 2 was a round ahead
  f.w.adopt(view_of(2, 3, {0, 0, nothing}));
  for (std::uint64_t t = 0; t < 3; ++t)
    f.model_from(1, t);
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, life_0}, heard_model{1, 1, life_0},
                          heard_model{1, 2, life_0}, heard_model{2, 1, life_0}, heard_model{2, 2, nothing}));
}

TEST(worker_views, a_later_view_is_in_force_from_its_first_step_on_and_not_before) {
  fixture f;
  f.w.adopt(view_of(2, 2, {0, nothing, 0}));
  f.w.adopt(view_of(3, 4, {0, 1, 0}));
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t t = 0; t < 6; ++t) {
    numbers.push_back(f.w.present().number);
    f.model_from(2, t);
    f.model_from(1, t, 1);
  }
  EXPECT_THAT(numbers, ElementsAre(1, 1, 2, 2, 3, 3));
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{0, 1, nothing}, heard_model{0, 2, life_0}, heard_model{1, 1, nothing},
                          heard_model{1, 2, life_0}, heard_model{2, 2, life_0}, heard_model{3, 2, life_0},
                          heard_model{4, 1, life_1}, heard_model{4, 2, life_0}, heard_model{5, 1, life_1},
                          heard_model{5, 2, life_0}));
}

TEST(worker_views, a_view_replaces_another_that_has_not_come_into_force) {
  fixture f;
  f.w.adopt(view_of(2, 2, {0, nothing, 0}));
  f.w.adopt(view_of(3, 2, {0, nothing, nothing}));
  EXPECT_EQ(f.program.heard.size(), 4u) << "steps 0 and 1, where nobody is left to wait for";
  EXPECT_EQ(f.w.present().number, 3u);
  EXPECT_TRUE(f.w.finished()) << "it goes on alone";
}

TEST(worker_views, frames_of_the_dead_are_not_taken_for_those_of_their_successors) {
  fixture f;
  f.model_from(2, 0);
  f.model_from(2, 1); // the next view does this step with the new worker 2
  f.w.adopt(view_of(2, 1, {0, 0, 1}, {{2, 1}}));
  f.model_from(1, 0);
  f.model_from(1, 1);
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, life_0}, heard_model{1, 1, life_0}));
  f.model_from(2, 1, 1);
  EXPECT_THAT(f.program.heard.back(), (heard_model{1, 2, life_1}));
}

TEST(worker_views, a_round_is_repeated_by_those_who_are_left) {
  fixture f{0, 0, true};
  f.model_from(1, 0, 0, 1);
  f.w.adopt(view_of(2, 0, {0, 0, nothing}));
  f.model_from(1, 0, 0, 2);
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, nothing}, heard_model{0, 1, life_0}));
  EXPECT_THAT(f.sent_to(1), ElementsAre(0, 0, 1));
  EXPECT_THAT(f.sent_to(2), ElementsAre(0));
}

TEST(worker_views, frames_of_an_attempt_that_is_over_are_dropped) {
  fixture f{0, 0, true};
  f.w.adopt(view_of(2, 0, {0, 0, nothing}));
  f.model_from(1, 0, 0, 1); // sent before the peer knew of view 2
  EXPECT_EQ(f.seen.waits, 1);
  EXPECT_EQ(f.w.present().number, 2u);
  f.model_from(1, 0, 0, 2);
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, nothing}, heard_model{0, 1, life_0}));
}

TEST(worker_views, a_held_worker_begins_no_step_whatever_happens) {
  fixture f;
  EXPECT_EQ(f.w.hold(), 0u);
  f.w.adopt(view_of(2, 1, {0, nothing, nothing})); // ends its waits, and so step 0
  EXPECT_EQ(f.program.heard.size(), 2u);
  EXPECT_EQ(f.w.hold(), 1u) << "it is about to begin";
  EXPECT_EQ(f.program.model()[0], 1.0f);
  f.w.proceed(3);
  EXPECT_EQ(f.program.model()[0], 3.0f);
  EXPECT_TRUE(f.w.finished());
}

TEST(worker_views, a_held_worker_ends_no_round_because_of_a_frame) {
  fixture f{0, 0, true};
  EXPECT_EQ(f.w.hold(), 0u);
  f.model_from(1, 0, 0, 1);
  f.model_from(2, 0, 0, 1); // its last frame; without it the others repeat the round
  EXPECT_THAT(f.program.heard, IsEmpty());
  EXPECT_EQ(f.w.hold(), 0u) << "else its answer was wrong";
  f.w.adopt(view_of(2, 0, {0, 0, nothing}));
  f.w.proceed(100);
  f.model_from(1, 0, 0, 2);
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, nothing}, heard_model{0, 1, life_0}));
}

TEST(worker_views, frames_that_come_while_a_worker_is_held_are_used_when_it_goes_on) {
  fixture f;
  f.w.hold();
  f.model_from(2, 0);
  f.model_from(1, 0);
  f.w.adopt(view_of(2, 1, {0, 0, nothing}));
  f.w.proceed(100);
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, life_0}));
}

TEST(worker_views, an_asynchronous_worker_lives_in_a_new_view_at_once) {
  fixture f{0, 0, false, false};
  f.model_from(1, 0);
  f.w.adopt(view_of(2, 0, {0, 0, 1}, {{2, 0}}));
  EXPECT_EQ(f.w.present().number, 2u);
  EXPECT_THAT(f.sent_to(2, frame_kind::state), ElementsAre(0));
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, nothing}))
      << "what the former worker 2 owed comes no more";
  f.model_from(1, 1);
  f.model_from(2, 1, 1);
  EXPECT_THAT(f.program.heard.back(), (heard_model{1, 2, life_1}));
}

} // namespace
} // namespace gossamer::actors
