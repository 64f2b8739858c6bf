// How a worker lives through changes of view.
#include "gossamer/actors/runtime/worker.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto nothing = std::nullopt;
constexpr auto life_0 = std::optional<std::uint32_t>{0}, life_1 = std::optional<std::uint32_t>{1};

/// What a wait for a model gave: of which step, from whom, and from which life of that worker; or nothing.
struct heard_model {
  std::uint64_t step;
  rank from;
  std::optional<std::uint32_t> life;

  friend bool operator==(const heard_model&, const heard_model&) = default;
  friend void PrintTo(const heard_model& h, std::ostream* out) {
    *out << "step " << h.step << " from " << h.from << ": " << (h.life ? "life " + std::to_string(*h.life) : "nothing");
  }
};

/// In each step, tells all neighbours and hears all neighbours. Its model is the number of its steps.
class gossip final : public algorithm {
public:
  /// @param repeats does a round again when its view is over, like ring_all_reduce
  explicit gossip(bool repeats = false) : repeats_(repeats) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      bool complete = false;
      while (!complete)
        complete = co_await round(w);
      x_.mutate()[0] += 1;
    }
  }
  void fields(archive& a) override { a(x_)(t_); }
  const vec& model() const override { return x_; }

  std::vector<heard_model> heard;

private:
  task<bool> round(worker& w) {
    const tag label{frame_kind::model, t_, 0, repeats_ ? w.present().number : 0};
    w.send_to_neighbours(label, {});
    const std::vector<rank> neighbours{w.neighbours().begin(), w.neighbours().end()};
    for (const auto j : neighbours) {
      const auto received = co_await w.receive(j, label);
      heard.push_back({t_, j, received ? std::optional{received->incarnation} : std::nullopt});
      if (!received && repeats_)
        co_return false;
    }
    co_return true;
  }

  bool repeats_;
  buffer_pool pool_;
  vec x_{pool_, 1};
  std::uint64_t t_ = 0;
};

struct recording_host final : worker_host {
  void compute(std::uint64_t, vec) override {}
  void report(step_report) override {}
  void report(snapshot) override {}
  void send(rank to, frame f) override { frames.emplace_back(to, std::move(f)); }
  traffic sent() const override { return {}; }
  void joined(std::uint64_t step) override { joined_at.push_back(step); }

  std::vector<std::pair<rank, frame>> frames;
  std::vector<std::uint64_t> joined_at;
};

/// Counts the waits that have begun and not ended.
struct counting_witness final : witness {
  void wait_begins(rank, rank, const tag&) override { ++waits; }
  void wait_ends(rank, rank) override { --waits; }
  int waits = 0;
};

using lives = std::vector<std::optional<std::uint32_t>>;

/// All members are neighbours of each other.
std::shared_ptr<const view> view_of(std::uint32_t number, std::uint64_t first_step, lives incarnations,
                                    std::map<rank, rank> donors = {}) {
  view v;
  v.number = number;
  v.first_step = first_step;
  std::vector<topology::graph::edge> edges;
  for (rank i = 0; i < incarnations.size(); ++i) {
    if (!incarnations[i])
      continue;
    for (const auto j : v.members)
      edges.emplace_back(j, i);
    v.members.push_back(i);
  }
  v.mixing = std::make_shared<const topology::mixing_matrix>(
      topology::mixing_matrix::metropolis(topology::graph{incarnations.size(), edges}));
  v.active.assign(incarnations.size(), true);
  v.incarnations = std::move(incarnations);
  v.donors = std::move(donors);
  return std::make_shared<const view>(std::move(v));
}

/// One of three workers, who are neighbours of each other.
struct fixture {
  explicit fixture(rank id = 0, std::uint32_t incarnation = 0, bool repeats = false, bool synchronous = true)
      : program(repeats), w(settings(id, incarnation, synchronous), compute::make_optimiser("sgd"), host) {
    w.run(program);
  }

  worker_settings settings(rank id, std::uint32_t incarnation, bool synchronous) {
    worker_settings s;
    s.id = id;
    s.incarnation = incarnation;
    s.workers = 3;
    if (incarnation == 0)
      s.everybody = view_of(1, 0, {0, 0, 0});
    s.synchronous = synchronous;
    s.step_limit = 100;
    s.codec = compress::make_codec("identity");
    s.schedule = compute::make_schedule("constant");
    s.heard = &seen;
    return s;
  }

  void model_from(rank source, std::uint64_t step, std::uint32_t incarnation = 0, std::uint32_t view = 0) {
    w.deliver({.source = source, .incarnation = incarnation, .label = {frame_kind::model, step, 0, view}, .body = {}});
  }
  /// A state whose model is `x` and whose step is t.
  void state_from(rank source, std::uint64_t t, std::uint32_t view, float x) {
    archive_writer state;
    vec model{pool, std::vector{x}};
    state(model)(t);
    packet body;
    body.payload = pool.allocate(state.bytes().size());
    std::ranges::copy(state.bytes(), body.payload.data());
    body.bits = 8 * state.bytes().size();
    w.deliver({.source = source, .label = {frame_kind::state, t, 0, view}, .body = std::move(body)});
  }

  /// The steps of the frames of one kind that were sent to a peer.
  std::vector<std::uint64_t> sent_to(rank peer, frame_kind kind = frame_kind::model) const {
    std::vector<std::uint64_t> steps;
    for (const auto& [to, f] : host.frames)
      if (to == peer && f.label.kind == kind)
        steps.push_back(f.label.step);
    return steps;
  }

  buffer_pool pool;
  counting_witness seen;
  recording_host host;
  gossip program;
  worker w; // last: its coroutine refers to the rest
};

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
  f.model_from(2, 1); // it was a round ahead
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
  f.model_from(2, 1); // of a step that the next view will do with the new worker 2
  f.w.adopt(view_of(2, 1, {0, 0, 1}, {{2, 1}}));
  f.model_from(1, 0);
  f.model_from(1, 1);
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{0, 1, life_0}, heard_model{0, 2, life_0}, heard_model{1, 1, life_0}));
  f.model_from(2, 1, 1);
  EXPECT_THAT(f.program.heard.back(), (heard_model{1, 2, life_1}));
}

TEST(worker_views, a_donor_gives_its_state_once_to_the_right_worker_when_the_view_begins) {
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
  read(x)(t);
  read.finish();
  EXPECT_EQ(x[0], 2.0f);
  EXPECT_EQ(t, 2u);
}

TEST(worker_views, a_donor_gives_nothing_before_the_view_begins) {
  fixture f;
  f.w.adopt(view_of(2, 2, {0, 0, 1}, {{2, 0}}));
  EXPECT_THAT(f.sent_to(2, frame_kind::state), IsEmpty());
  f.model_from(1, 0);
  EXPECT_THAT(f.sent_to(2, frame_kind::state), IsEmpty());
  f.model_from(1, 1);
  EXPECT_THAT(f.sent_to(2, frame_kind::state), ElementsAre(2));
}

TEST(worker_views, a_joiner_begins_with_the_state_that_it_was_promised) {
  fixture f{2, 1};
  EXPECT_FALSE(f.w.ready());
  EXPECT_FALSE(f.w.finished()) << "though it has no coroutine yet";
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  f.model_from(0, 7); // its neighbours may be there already
  f.model_from(1, 7);
  f.model_from(0, 8);
  f.state_from(1, 6, 1, 50); // of a view that was replaced
  EXPECT_FALSE(f.w.ready());
  EXPECT_THAT(f.host.joined_at, IsEmpty());
  f.state_from(0, 7, 2, 70);
  EXPECT_TRUE(f.w.ready());
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
  EXPECT_THAT(f.program.heard,
              ElementsAre(heard_model{7, 0, life_0}, heard_model{7, 1, life_0}, heard_model{8, 0, life_0}));
  EXPECT_EQ(f.program.model()[0], 71.0f);
  f.state_from(0, 7, 2, 90);
  EXPECT_EQ(f.program.model()[0], 71.0f) << "a second state is of no use";
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
}

TEST(worker_views, a_joiner_whose_donor_is_lost_waits_for_the_next_one) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  f.w.adopt(view_of(3, 7, {nothing, 0, 1}, {{2, 1}}));
  f.state_from(0, 7, 2, 70); // was under way
  EXPECT_FALSE(f.w.ready());
  f.state_from(1, 7, 3, 71);
  EXPECT_TRUE(f.w.ready());
  EXPECT_EQ(f.w.present().number, 3u);
  f.model_from(1, 7);
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{7, 1, life_0}));
}

TEST(worker_views, a_state_may_come_before_the_view_that_promises_it) {
  fixture joiner{2, 1};
  joiner.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  joiner.state_from(1, 7, 3, 71);
  EXPECT_FALSE(joiner.w.ready());
  joiner.w.adopt(view_of(3, 7, {nothing, 0, 1}, {{2, 1}}));
  EXPECT_THAT(joiner.host.joined_at, ElementsAre(7));

  fixture behind{0, 0, true};
  behind.w.hold();
  behind.state_from(1, 1, 2, 41);
  EXPECT_EQ(behind.program.model()[0], 0.0f);
  behind.w.adopt(view_of(2, 1, {0, 0, nothing}, {{0, 1}}));
  EXPECT_THAT(behind.host.joined_at, ElementsAre(1));
  EXPECT_THAT(behind.sent_to(1), ElementsAre(0)) << "it is still held";
  behind.w.proceed(100);
  EXPECT_THAT(behind.sent_to(1), ElementsAre(0, 1));
}

TEST(worker_views, a_joiner_gives_nothing_away_before_it_has_something) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 1, 1}, {{2, 0}, {1, 0}}));
  f.state_from(0, 7, 2, 70);
  EXPECT_THAT(f.sent_to(1, frame_kind::state), IsEmpty());
}

TEST(worker_views, a_damaged_state_is_refused) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  EXPECT_THROW(f.w.deliver({.source = 0, .label = {frame_kind::state, 7, 0, 2}, .body = {}}), error);
  EXPECT_FALSE(f.w.ready());
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
  f.model_from(1, 0, 0, 1); // sent before the peer knew
  EXPECT_EQ(f.seen.waits, 1);
  EXPECT_EQ(f.w.present().number, 2u);
  f.model_from(1, 0, 0, 2);
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, nothing}, heard_model{0, 1, life_0}));
}

TEST(worker_views, a_worker_that_is_a_round_behind_takes_the_state_of_another_and_begins_again) {
  fixture f{0, 0, true};
  EXPECT_EQ(f.w.hold(), 0u);
  EXPECT_EQ(f.seen.waits, 1);
  f.model_from(1, 1, 0, 2); // worker 1 has done step 0 and heard of view 2
  f.w.adopt(view_of(2, 1, {0, 0, nothing}, {{0, 1}}));
  EXPECT_EQ(f.seen.waits, 0) << "its coroutine is gone, and waits for nobody";
  EXPECT_FALSE(f.w.ready());
  EXPECT_FALSE(f.w.finished());
  f.w.proceed(100);
  f.state_from(1, 1, 2, 41);
  EXPECT_THAT(f.host.joined_at, ElementsAre(1));
  EXPECT_EQ(f.program.model()[0], 42.0f) << "and step 1 is done";
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{1, 1, life_0}));
  EXPECT_THAT(f.sent_to(1), ElementsAre(0, 1, 2));
}

TEST(worker_views, a_state_that_comes_while_a_worker_is_held_starts_no_step) {
  fixture f{2, 1};
  f.w.adopt(view_of(2, 7, {0, 0, 1}, {{2, 0}}));
  f.w.hold();
  f.state_from(0, 7, 2, 70);
  EXPECT_THAT(f.host.joined_at, ElementsAre(7));
  EXPECT_THAT(f.sent_to(0), IsEmpty());
  EXPECT_EQ(f.w.hold(), 7u);
  f.w.proceed(100);
  EXPECT_THAT(f.sent_to(0), ElementsAre(7));
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
  f.model_from(2, 0, 0, 1); // its last; without it the others will repeat the round
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
  EXPECT_THAT(f.program.heard, ElementsAre(heard_model{0, 1, life_0})) << "the new worker 2 may still send";
  f.model_from(2, 0, 1);
  EXPECT_THAT(f.program.heard.back(), (heard_model{0, 2, life_1}));
}

} // namespace
} // namespace gossamer::actors
