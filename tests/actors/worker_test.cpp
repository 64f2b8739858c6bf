#include "gossamer/actors/worker/hosted_worker.hpp"
#include "gossamer/testing/tiny_world.hpp"

#include <gmock/gmock.h>

#include <array>
#include <set>
#include <tuple>

#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

/// Does steps without gradients or messages, and records them.
class stepper final : public algorithm {
public:
  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      auto end_of_step = advance.wait();
      co_await end_of_step;
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

  signal advance; ///< ends the present step
  std::uint64_t steps() const { return t_; }

private:
  vec x_;
  std::uint64_t t_ = 0;
};

struct silent_host : worker_host {
  void compute(gradient_job) override { ++jobs; }
  void report(step_report r) override {
    ++reports;
    stale_frames += r.stale_frames;
  }
  void report(snapshot s) override { snapshots.push_back(s.evaluation); }
  void send(rank, frame) override { throw std::logic_error("no links here"); }
  traffic sent() const override { return {}; }
  std::chrono::nanoseconds now() const override { return {}; }
  void wake_at(std::chrono::nanoseconds) override {}
  bool has_room(std::optional<rank>) const override { return room; }

  bool room = true;
  int jobs = 0, reports = 0;
  std::uint64_t stale_frames = 0;
  std::vector<std::uint64_t> snapshots;
};

worker_settings settings_with(std::uint64_t limit, std::uint64_t evaluation_steps = 0) {
  worker_settings s;
  s.place.workers = s.place.ranks = 2;
  s.place.everybody = first_view(std::make_shared<const topology::mixing_matrix>(
                                     topology::mixing_matrix::metropolis(topology::make_topology("ring", 2, 1))),
                                 {true, false});
  s.training.step_limit = limit;
  s.training.evaluation_steps = evaluation_steps;
  s.packing.codec = compress::make_codec("identity");
  s.training.schedule = compute::make_schedule("inverse-sqrt:offset=1");
  s.training.lr = 0.5;
  s.training.updates_per_epoch = 2;
  s.training.planned_epochs = static_cast<double>(limit);
  return s;
}

struct fixture {
  explicit fixture(worker_settings s) : w(std::move(s), compute::make_optimiser("sgd"), host) {}
  silent_host host;
  stepper program;
  hosted_worker w; // last: its coroutine refers to the rest
};

TEST(worker, is_not_finished_before_it_has_begun) {
  fixture f{settings_with(3)};
  f.w.deliver({.source = 1, .label = {frame_kind::model}, .body = {}}); // from a neighbour that started earlier
  EXPECT_FALSE(f.w.finished());
}

TEST(worker, saves_as_it_begins_what_a_peer_ordered_that_began_earlier) {
  struct saving_host : silent_host {
    void checkpoint(std::uint64_t number) override { saved.push_back(number); }
    void send(rank to, frame f) override { markers.emplace_back(to, f.label.step); }
    std::vector<std::uint64_t> saved;
    std::vector<std::pair<rank, std::uint64_t>> markers;
  } host;
  auto s = settings_with(3);
  s.training.synchronous = false;
  stepper program;
  hosted_worker w{std::move(s), compute::make_optimiser("sgd"), host};
  w.deliver({.source = 1, .label = {frame_kind::checkpoint, 7}, .body = {}});
  EXPECT_FALSE(w.has_state());
  EXPECT_THAT(host.saved, testing::IsEmpty());
  w.run(program);
  EXPECT_THAT(host.saved, testing::ElementsAre(7));
  EXPECT_THAT(host.markers, testing::ElementsAre(std::pair{rank{1}, std::uint64_t{7}}));
}

TEST(worker, does_its_steps_and_takes_snapshots_on_the_way) {
  fixture f{settings_with(10, 4)};
  f.w.run(f.program);
  while (!f.w.finished())
    f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 10u);
  EXPECT_EQ(f.host.snapshots, (std::vector<std::uint64_t>{0, 4})); // step 8 is so near the end that it is left out
}

TEST(worker, holds_behind_its_present_step_until_it_is_told_where_to_stop) {
  fixture f{settings_with(1000)};
  f.w.run(f.program);
  f.program.advance.notify(); // step 0 is done, step 1 under way
  EXPECT_EQ(f.w.hold(), 1u);
  f.program.advance.notify(); // step 1 is done; step 2 must not begin
  f.program.advance.notify();
  f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 2u);
  EXPECT_FALSE(f.w.finished());
  f.w.proceed(4); // another worker was in step 3
  f.program.advance.notify();
  f.program.advance.notify();
  EXPECT_TRUE(f.w.finished());
  EXPECT_EQ(f.program.steps(), 4u);
}

/// Does steps of a gradient alone, as between two exchanges.
struct lone_steps final : algorithm {
  explicit lone_steps(vec x) : x_(std::move(x)) {}
  task<> run(worker& w) override {
    for (; co_await w.next_step(t); ++t) {
      const vec g = co_await w.start_gradient(x_, t);
      x_ = g;
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t); }
  vec x_;
  std::uint64_t t = 0;
};

// It has answered that it is in step 0, which others may now repeat.
TEST(worker, takes_no_gradient_while_it_is_held) {
  silent_host host;
  buffer_pool pool;
  const vec g{pool, 1};
  lone_steps program{g};
  hosted_worker w{settings_with(10), compute::make_optimiser("sgd"), host};
  w.run(program);
  EXPECT_EQ(w.hold(), 0u);
  w.gradient_arrived({0, g, 0.0});
  EXPECT_EQ(host.reports, 1);
  EXPECT_EQ(program.t, 0u);
  w.proceed(10);
  EXPECT_EQ(program.t, 1u);
  w.gradient_arrived({1, g, 0.0});
  EXPECT_EQ(program.t, 2u);
}

TEST(worker, begins_no_step_while_there_is_no_room_for_what_it_sends) {
  fixture f{settings_with(1000)};
  f.w.run(f.program);
  f.host.room = false;
  f.program.advance.notify(); // step 0 is done
  f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 1u);
  f.w.more_room(); // there is still too little room
  f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 1u);
  f.host.room = true;
  f.w.more_room();
  f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 2u);
}

TEST(worker, waits_for_room_neither_while_it_is_held_nor_at_the_end) {
  fixture f{settings_with(1000)};
  f.w.run(f.program);
  f.host.room = false;
  f.program.advance.notify();
  EXPECT_EQ(f.w.hold(), 1u) << "about to begin";
  f.host.room = true;
  f.w.more_room();
  f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 1u) << "it is held";
  f.host.room = false;
  f.w.proceed(5);
  EXPECT_FALSE(f.w.finished());
  EXPECT_EQ(f.w.hold(), 1u);
  f.w.proceed(1);
  EXPECT_TRUE(f.w.finished()) << "there is nothing left that could wait for room";
}

/// Waits for room to send to worker 1, outside its steps.
struct pusher final : algorithm {
  task<> run(worker& w) override {
    co_await w.room(1);
    ended = true;
  }
  const vec& model() const override { return x; }
  void fields(archive&) override {}
  vec x;
  bool ended = false;
};

TEST(worker, waits_for_room_until_there_is_some_or_nobody_is_there_or_training_is_over) {
  const auto without_peer = [](hosted_worker& w) {
    auto alone = w.present();
    alone.number = 2;
    alone.members = {0};
    alone.incarnations[1] = std::nullopt;
    w.adopt(std::make_shared<const view>(std::move(alone)));
    w.proceed(1000);
  };
  const std::vector<std::function<void(silent_host&, hosted_worker&)>> ends{
      [](silent_host& host, hosted_worker& w) {
        host.room = true;
        w.more_room();
      },
      [&](silent_host&, hosted_worker& w) { without_peer(w); }, [](silent_host&, hosted_worker& w) { w.proceed(0); }};
  for (std::size_t k = 0; k < ends.size(); ++k) {
    silent_host host;
    pusher program;
    hosted_worker w{settings_with(1000), compute::make_optimiser("sgd"), host};
    host.room = false;
    w.run(program);
    w.more_room();
    w.proceed(1000);
    EXPECT_FALSE(program.ended) << k;
    ends[k](host, w);
    EXPECT_TRUE(program.ended) << k;
  }
}

TEST(worker, reads_the_schedule_at_the_progress_of_all) {
  auto s = settings_with(1000);
  s.training.synchronous = true;
  fixture together{s};
  EXPECT_FLOAT_EQ(together.w.learning_rate(0), 0.5f);
  EXPECT_FLOAT_EQ(together.w.learning_rate(3), 0.25f); // 3 steps of 2 workers are 3 epochs: 1 / sqrt(1 + 3)
  s.training.synchronous = false;
  fixture apart{s};
  EXPECT_FLOAT_EQ(apart.w.learning_rate(0), 0.5f);
  apart.w.progressed(6); // the leader's count
  EXPECT_FLOAT_EQ(apart.w.learning_rate(1), 0.25f);
}

TEST(worker, counts_what_others_had_done_before_the_run_went_on) {
  auto s = settings_with(1000);
  s.training.updates_ahead = -2; // one and a half workers did steps 0 to 3
  fixture together{s};
  EXPECT_FLOAT_EQ(together.w.learning_rate(4), 0.25f) << "6 updates are 3 epochs";
  s.training.synchronous = false;
  s.training.updates_ahead = 6;
  fixture apart{s};
  EXPECT_FLOAT_EQ(apart.w.learning_rate(1), 0.25f) << "before the leader has said anything";
}

TEST(worker, reads_the_schedule_at_the_epochs_that_other_minibatches_had_come_to) {
  auto s = settings_with(1000);
  s.training.updates_ahead = 2; // an epoch of these minibatches, and three of those before
  s.training.epochs_ahead = 2;
  for (const bool synchronous : {true, false}) {
    s.training.synchronous = synchronous;
    fixture f{s};
    EXPECT_FLOAT_EQ(f.w.learning_rate(0), 0.25f);
  }
}

TEST(worker, encodes_and_decodes_by_its_coder) {
  struct counting final : compress::coder {
    packet encode(const compress::codec& c, const vec& v, const random_stream& r, std::uint64_t t) const override {
      ++encoded;
      return coder::encode(c, v, r, t);
    }
    vec decode(const packet& p) const override {
      ++decoded;
      return coder::decode(p);
    }
    mutable int encoded = 0, decoded = 0;
  };
  const auto coder = std::make_shared<counting>();
  auto s = settings_with(1);
  s.packing.coder = coder;
  fixture f{s};
  buffer_pool pool;
  const vec v{pool, std::vector{1.0f, -2.0f}};
  EXPECT_EQ(f.w.decode(f.w.encode(v), 2), v);
  EXPECT_EQ(f.w.decode(f.w.encode_exactly(v), 2), v);
  EXPECT_EQ(coder->encoded, 2);
  EXPECT_EQ(coder->decoded, 2);
  EXPECT_THROW(std::ignore = f.w.decode(f.w.encode(v), 3), error);
  EXPECT_EQ(coder->decoded, 2) << "a vector of another size is not even looked at";
}

TEST(worker, says_where_it_diverged_and_what_may_help) {
  for (const bool exact : {true, false}) {
    auto s = settings_with(10);
    s.packing.exact = exact;
    fixture f{std::move(s)};
    f.w.run(f.program);
    std::ignore = f.w.start_gradient(f.program.model(), 0);
    try {
      f.w.gradient_arrived({0, {}, -std::numeric_limits<double>::quiet_NaN()});
      FAIL() << "it went on";
    } catch (const error& e) {
      EXPECT_THAT(e.sentence(), testing::HasSubstr("diverged at worker 0, step 0, epoch 0: its loss is nan"));
      EXPECT_EQ(e.remedy().find("finer codec") != std::string::npos, !exact) << e.remedy();
    }
    EXPECT_EQ(f.host.reports, 0);
  }
}

struct stale_frames_heard final : witness {
  void dropped_stale(rank, const frame& f, std::uint64_t t) override { steps.emplace_back(f.label.step, t); }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;
};

// Frames for past steps would otherwise stay in the inbox for ever.
TEST(worker, drops_and_counts_what_was_sent_for_steps_that_are_over) {
  stale_frames_heard seen;
  auto s = settings_with(10);
  s.witness = &seen;
  fixture f{s};
  f.w.run(f.program);
  for (const std::uint64_t step : {0u, 1u, 2u})
    f.w.deliver({.source = 1, .label = {frame_kind::model, step}, .body = {}});
  for (int step = 0; step < 3; ++step)
    f.program.advance.notify();
  ASSERT_EQ(f.program.steps(), 3u);
  EXPECT_EQ(seen.steps, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 2}, {1, 3}}));
  buffer_pool pool;
  const vec x{pool, 1};
  for (int gradient = 0; gradient < 2; ++gradient) {
    auto pending = f.w.start_gradient(x, 3);
    f.w.gradient_arrived({3, x, 0.0});
    pending.await_resume();
    EXPECT_EQ(f.host.stale_frames, 2u); // each frame is reported once
  }
}

TEST(worker, that_is_asynchronous_keeps_frames_whose_numbers_are_not_those_of_steps) {
  stale_frames_heard seen;
  auto s = settings_with(10);
  s.witness = &seen;
  s.training.synchronous = false;
  fixture f{s};
  f.w.run(f.program);
  f.w.deliver({.source = 1, .label = {frame_kind::average_reply, 0}, .body = {}});
  f.program.advance.notify();
  EXPECT_EQ(f.program.steps(), 1u);
  EXPECT_TRUE(seen.steps.empty());
  EXPECT_TRUE(f.w.receive(1, {frame_kind::average_reply, 0}).await_ready());
}

TEST(worker, draws_other_numbers_in_each_life) {
  std::set<std::uint32_t> words;
  for (const std::uint32_t life : {0u, 1u, 2u, 3u}) {
    auto s = settings_with(10);
    s.place.random_life = life;
    fixture first{s}, again{s};
    EXPECT_EQ(first.w.random(purpose::neighbour).word(7, 0), again.w.random(purpose::neighbour).word(7, 0));
    words.insert(first.w.random(purpose::neighbour).word(7, 0));
  }
  EXPECT_EQ(words.size(), 4u);
  EXPECT_TRUE(words.contains(random_stream(0, 0, purpose::neighbour).word(7, 0)));
}

TEST(worker, refuses_frames_of_kinds_that_another_process_would_not_read) {
  fixture f{settings_with(3)};
  for (const auto kind : std::array<std::uint8_t, 4>{0, 6, 99, 127})
    EXPECT_THAT(usage_error([&] { f.w.send(1, {frame_kind{kind}}, {}); }),
                HasSubstr("frames of a program have kinds 128 to 255, not " + std::to_string(kind)));
  for (const auto kind : std::array<std::uint8_t, 3>{1, 128, 255})
    EXPECT_THROW(f.w.send(1, {frame_kind{kind}}, {}), std::logic_error) << "the link of this test was not reached";
}

TEST(worker, refuses_ranks_that_nobody_may_have) {
  fixture f{settings_with(3)};
  const auto problem = HasSubstr("worker 0 names a peer of rank 9, and ranks are less than 2 here");
  EXPECT_THAT(usage_error([&] { f.w.send(9, {first_own_kind}, {}); }), problem);
  EXPECT_THAT(usage_error([&] { f.w.receive(9, {first_own_kind}); }), problem);
  EXPECT_THAT(usage_error([&] { std::ignore = f.w.is_present(9); }), problem);
  EXPECT_THAT(usage_error([&] { std::ignore = f.w.master(0); }),
              HasSubstr("worker 0 names master 0, and the run has none"));
  auto s = settings_with(3);
  s.place.masters = 2;
  fixture served{s};
  EXPECT_EQ(served.w.master(1), 3u);
  EXPECT_THAT(usage_error([&] { std::ignore = served.w.master(2); }),
              HasSubstr("names master 2, and the run has 2, which count from 0"));
}

} // namespace
} // namespace gossamer::actors
