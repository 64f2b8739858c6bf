// The transfer of one worker's state to another.
#include "worker_fixture.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace testing_support;
using fixture = worker_fixture;

TEST(worker_states, a_donor_gives_its_state_once_to_the_right_worker_when_the_view_begins) {
  fixture f;
  f.w.adopt(view_of(2, 2, {0, 1, 1}, {{1, 0}, {2, 1}}));
  EXPECT_THAT(f.sent_to(1, frame_kind::state), ElementsAre(2)) << "steps 0 and 1 wait for nobody";
  EXPECT_THAT(f.sent_to(2, frame_kind::state), IsEmpty()) << "another one gives to worker 2";
  for (std::uint64_t t = 2; t < 5; ++t)
    for (const rank i : {1u, 2u})
      f.model_from(i, t, 1);
  EXPECT_THAT(f.sent_to(1, frame_kind::state), ElementsAre(2));
  const auto state =
      std::ranges::find_if(f.host.frames, [](const auto& sent) { return sent.second.label.kind == frame_kind::state; });
  EXPECT_EQ(state->second.label, (tag{frame_kind::state, 2, 0, 2}));
  archive_reader read{state->second.body.payload.bytes(), f.pool};
  vec x;
  std::uint64_t t = 0;
  std::uint64_t encodings = 0;
  read(x)(t)(encodings);
  read.finish();
  EXPECT_EQ(x[0], 2.0f);
  EXPECT_EQ(t, 2u);
}

TEST(worker_states, a_donor_gives_nothing_before_the_view_begins) {
  fixture f;
  f.w.adopt(view_of(2, 2, {0, 0, 1}, {{2, 0}}));
  EXPECT_THAT(f.sent_to(2, frame_kind::state), IsEmpty());
  f.model_from(1, 0);
  EXPECT_THAT(f.sent_to(2, frame_kind::state), IsEmpty());
  f.model_from(1, 1);
  EXPECT_THAT(f.sent_to(2, frame_kind::state), ElementsAre(2));
}

TEST(worker_states, a_joiner_begins_with_the_state_that_it_was_promised) {
  fixture f{2, 1};
  EXPECT_FALSE(f.w.has_state());
  EXPECT_FALSE(f.w.finished()) << "though it has no coroutine yet";
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  f.model_from(0, 7); // its neighbours may be in that step already
  f.model_from(1, 7);
  f.model_from(0, 8);
  f.state_from(1, 6, 1, 50); // a state of a view that was replaced
  EXPECT_FALSE(f.w.has_state());
  EXPECT_THAT(f.host.joined_at, IsEmpty());
  f.state_from(0, 7, 2, 70);
  EXPECT_TRUE(f.w.has_state());
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{7, 0, life_0}, heard_model{7, 1, life_0}, heard_model{8, 0, life_0}));
  EXPECT_EQ(f.program.model()[0], 71.0f);
  f.state_from(0, 7, 2, 90);
  EXPECT_EQ(f.program.model()[0], 71.0f) << "a second state is of no use";
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
}

TEST(worker_states, a_joiner_whose_donor_is_lost_waits_for_the_next_one) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  f.w.adopt(view_of(3, 7, {nothing, 0, 1}, {{2, 1}}));
  f.state_from(0, 7, 2, 70); // the state was under way
  EXPECT_FALSE(f.w.has_state());
  f.state_from(1, 7, 3, 71);
  EXPECT_TRUE(f.w.has_state());
  EXPECT_EQ(f.w.present().number, 3u);
  f.model_from(1, 7);
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{7, 1, life_0}));
}

TEST(worker_states, a_state_may_come_before_the_view_that_promises_it) {
  fixture joiner{2, 1};
  joiner.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  joiner.state_from(1, 7, 3, 71);
  EXPECT_FALSE(joiner.w.has_state());
  joiner.w.adopt(view_of(3, 7, {nothing, 0, 1}, {{2, 1}}));
  joiner.w.proceed(100);
  EXPECT_THAT(joiner.host.joined_at, ElementsAre(7));

  fixture behind{0, 0, true};
  behind.w.hold();
  behind.state_from(1, 1, 2, 41);
  EXPECT_EQ(behind.program.model()[0], 0.0f);
  behind.w.adopt(view_of(2, 1, {0, 0, nothing}, {{0, 1}}));
  EXPECT_THAT(behind.host.joined_at, IsEmpty()) << "it is still held";
  EXPECT_THAT(behind.sent_to(1), ElementsAre(0));
  behind.w.proceed(100);
  EXPECT_THAT(behind.host.joined_at, ElementsAre(1));
  EXPECT_THAT(behind.sent_to(1), ElementsAre(0, 1));
}

TEST(worker_states, a_joiner_is_given_what_its_former_life_has_learnt_alone) {
  fixture f{2, 1, false, false, fixture::state_of(3, 30)};
  EXPECT_EQ(f.program.model()[0], 0.0f);
  f.w.adopt(view_of(2, 0, {0, 0, 1}, {{2, 0}}));
  f.state_from(0, 7, 2, 70);
  EXPECT_THAT(f.program.learnt, ElementsAre(30.0f));
  EXPECT_EQ(f.program.model()[0], 70.0f) << "by itself, it does nothing with that";
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
}

TEST(worker_states, who_is_started_anew_without_a_donor_goes_on_from_what_its_former_life_had) {
  fixture f{2, 1, false, false, fixture::state_of(3, 30)};
  f.w.adopt(view_of(2, 0, {0, 0, 1}));
  EXPECT_TRUE(f.w.has_state());
  EXPECT_EQ(f.program.model()[0], 30.0f);
  EXPECT_THAT(f.program.learnt, IsEmpty()) << "there is nothing to unite that with";

  fixture lost{2, 1};
  EXPECT_THROW(lost.w.adopt(view_of(2, 0, {0, 0, 1})), error) << "and not from where training began";
}

TEST(worker_states, a_joiner_gives_nothing_away_before_it_has_something) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 1, 1}, {{2, 0}, {1, 0}}));
  f.state_from(0, 7, 2, 70);
  EXPECT_THAT(f.sent_to(1, frame_kind::state), IsEmpty());
}

TEST(worker_states, a_damaged_state_is_refused) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  EXPECT_THROW(f.w.deliver({.source = 0, .label = {frame_kind::state, 7, 0, 2}, .body = {}}), error);
  EXPECT_FALSE(f.w.has_state());
}

TEST(worker_states, a_worker_that_is_a_round_behind_takes_the_state_of_another_and_begins_again) {
  fixture f{0, 0, true};
  EXPECT_EQ(f.w.hold(), 0u);
  EXPECT_EQ(f.seen.waits, 1);
  f.model_from(1, 1, 0, 2); // worker 1 has done step 0 and heard of view 2
  f.w.adopt(view_of(2, 1, {0, 0, nothing}, {{0, 1}}));
  EXPECT_EQ(f.seen.waits, 0) << "its coroutine is gone, and waits for nobody";
  EXPECT_FALSE(f.w.has_state());
  EXPECT_FALSE(f.w.finished());
  f.w.proceed(100);
  f.state_from(1, 1, 2, 41);
  EXPECT_THAT(f.host.joined_at, ElementsAre(1));
  EXPECT_EQ(f.program.model()[0], 42.0f) << "and step 1 is done";
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{1, 1, life_0}));
  EXPECT_THAT(f.sent_to(1), ElementsAre(0, 1, 2));
}

TEST(worker_states, a_state_that_comes_while_a_worker_is_held_is_taken_when_it_goes_on) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  f.w.hold();
  f.state_from(0, 7, 2, 70);
  EXPECT_THAT(f.host.joined_at, IsEmpty());
  EXPECT_THAT(f.sent_to(0), IsEmpty());
  EXPECT_EQ(f.w.hold(), 0u) << "as it has answered before";
  f.w.proceed(100);
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
  EXPECT_THAT(f.sent_to(0), ElementsAre(7));
}

/// A model whose program keeps one number beside it.
struct keeping_model final : compute::model {
  explicit keeping_model(float number) : kept(number) {}

  std::size_t dimension() const override { return 1; }
  void initial_point(std::span<float>, const random_stream&) const override {}
  double loss_and_gradient(std::span<const float>, const compute::batch&, std::span<float>) override { return 0; }
  compute::evaluation evaluate(std::span<const float>, const compute::batch&) override { return {}; }
  std::unique_ptr<model> clone() const override { return std::make_unique<keeping_model>(kept); }
  const kept_beside* keeps() const override { return &beside; }

  buffer_pool pool;
  mutable float kept;
  kept_beside beside{[this] { return vec{pool, std::vector{kept}}; }, [this](const vec& v) { kept = v[0]; }};
};

TEST(worker_states, hold_what_the_program_keeps_beside_the_model) {
  fixture f;
  const auto donor = std::make_shared<keeping_model>(7.0f), heir = std::make_shared<keeping_model>(0.0f);
  auto settings = f.settings(0, 0, true);
  settings.training.model = donor;
  gossip first, second;
  hosted_worker saved{settings, compute::make_optimiser("sgd"), f.host};
  saved.run(first);
  settings.training.model = heir;
  settings.place.saved = std::make_shared<const std::vector<std::byte>>(saved.state());
  hosted_worker resumed{settings, compute::make_optimiser("sgd"), f.host};
  resumed.run(second);
  EXPECT_EQ(heir->kept, 7.0f);
  EXPECT_GT(saved.state().size(), f.w.state().size());

  auto master = f.settings(3, 0, true); // ranks from 3 on are masters, which compute no gradients
  master.place.masters = 1;
  master.place.everybody = view_of(1, 0, {0, 0, 0, 0});
  master.training.model = donor;
  gossip third;
  hosted_worker serving{master, compute::make_optimiser("sgd"), f.host};
  serving.run(third);
  EXPECT_EQ(serving.state().size(), f.w.state().size());
}

TEST(worker_states, are_given_up_once_a_model_is_made_of_them) {
  fixture f;
  gossip first, second;
  hosted_worker before{f.settings(0, 0, true), compute::make_optimiser("sgd"), f.host};
  before.run(first);
  auto settings = f.settings(0, 0, true);
  settings.place.saved = std::make_shared<const std::vector<std::byte>>(before.state());
  const std::weak_ptr held = settings.place.saved;
  hosted_worker after{std::move(settings), compute::make_optimiser("sgd"), f.host};
  ASSERT_FALSE(held.expired());
  after.run(second);
  EXPECT_TRUE(held.expired());
}

} // namespace
} // namespace gossamer::actors
