// A worker and the time of its world: pauses, and what gradients take.
#include "gossamer/actors/worker/hosted_worker.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

/// A host whose time the test sets.
struct timed_host final : worker_host {
  void compute(gradient_job) override {}
  void report(step_report) override {}
  void report(snapshot) override {}
  void send(rank, frame) override {}
  traffic sent() const override { return {}; }
  std::chrono::nanoseconds now() const override { return time; }
  void wake_at(std::chrono::nanoseconds at) override { alarms.push_back(at); }

  std::chrono::nanoseconds time{0};
  std::vector<std::chrono::nanoseconds> alarms;
};

worker_settings settings() {
  worker_settings s;
  s.place.workers = s.place.ranks = 2;
  s.place.everybody = first_view(std::make_shared<const topology::mixing_matrix>(
                                     topology::mixing_matrix::metropolis(topology::make_topology("ring", 2, 1))),
                                 {true, false});
  s.training.synchronous = false;
  s.training.step_limit = 10;
  s.packing.codec = compress::make_codec("identity");
  s.training.schedule = compute::make_schedule("constant");
  return s;
}

/// Pauses again and again, for a second.
struct dozer final : algorithm {
  task<> run(worker& w) override {
    while (!w.over()) {
      const double second = 1;
      co_await w.pause(second);
      ++pauses;
    }
  }
  const vec& model() const override { return x; }
  void fields(archive& a) override { a(x); }
  vec x;
  int pauses = 0;
};

struct dozing_fixture {
  dozing_fixture() : w(settings(), compute::make_optimiser("sgd"), host) { w.run(program); }
  /// Wakes the worker at that time, as the host was asked to.
  void at(std::chrono::milliseconds time) {
    host.time = time;
    std::erase_if(host.alarms, [&](auto due) { return due <= time; });
    w.wake();
  }

  timed_host host;
  dozer program;
  hosted_worker w; // last: its coroutine refers to the rest
};

TEST(pauses, last_until_the_hosts_time_has_come) {
  using namespace std::chrono_literals;
  dozing_fixture f;
  EXPECT_THAT(f.host.alarms, testing::Contains(1s));
  f.at(999ms);
  EXPECT_EQ(f.program.pauses, 0);
  EXPECT_THAT(f.host.alarms, testing::Contains(1s));
  f.at(1000ms);
  EXPECT_EQ(f.program.pauses, 1);
  EXPECT_THAT(f.host.alarms, testing::ElementsAre(2s));
}

/// Pauses for a second, and beside that for three quarters of one.
struct restless_dozer final : algorithm {
  task<> run(worker& w) override {
    w.serve(doze(w, 0.75));
    co_await doze(w, 1);
  }
  static task<> doze(worker& w, double seconds) {
    while (!w.over()) {
      const double pause = seconds;
      co_await w.pause(pause);
    }
  }
  const vec& model() const override { return x; }
  void fields(archive& a) override { a(x); }
  vec x;
};

TEST(pauses, side_by_side_ask_for_one_call_each) {
  timed_host host;
  restless_dozer program;
  hosted_worker w{settings(), compute::make_optimiser("sgd"), host};
  w.run(program);
  for (int k = 0; k < 100; ++k) {
    host.time = std::ranges::min(host.alarms);
    auto calls = std::erase_if(host.alarms, [&](auto due) { return due <= host.time; });
    for (; calls > 0; --calls)
      w.wake();
    ASSERT_EQ(host.alarms.size(), 2u) << "after " << host.time.count() << " ns";
  }
}

TEST(pauses, of_a_held_worker_end_when_it_goes_on) {
  dozing_fixture f;
  f.w.hold();
  f.at(std::chrono::seconds{2});
  EXPECT_EQ(f.program.pauses, 0);
  f.w.proceed(10);
  EXPECT_EQ(f.program.pauses, 1);
}

TEST(pauses, end_when_training_is_over) {
  dozing_fixture f;
  f.w.proceed(10);
  EXPECT_EQ(f.program.pauses, 0);
  f.w.proceed(0);
  EXPECT_EQ(f.program.pauses, 1);
  EXPECT_TRUE(f.w.finished());
}

TEST(gradient_seconds, are_the_median_of_the_last_five_gradients) {
  using namespace std::chrono_literals;
  dozing_fixture f;
  EXPECT_EQ(f.w.gradient_seconds(), 0);
  buffer_pool pool;
  const vec x{pool, 1};
  const auto after_one_of = [&](std::chrono::milliseconds took, bool update = true) {
    auto pending = f.w.start_gradient(x, 0);
    f.host.time += took;
    f.w.gradient_arrived({0, x, 0.0, update});
    pending.await_resume();
    return f.w.gradient_seconds();
  };
  EXPECT_DOUBLE_EQ(after_one_of(30ms), 0.03);
  EXPECT_DOUBLE_EQ(after_one_of(10ms), 0.03);
  EXPECT_DOUBLE_EQ(after_one_of(20ms), 0.02);
  EXPECT_DOUBLE_EQ(after_one_of(9000ms), 0.03); // of two in the middle, the longer
  EXPECT_DOUBLE_EQ(after_one_of(20ms), 0.02);   // a hiccup does not count
  EXPECT_DOUBLE_EQ(after_one_of(5000ms, false), 0.02) << "a part of a full gradient has another length";
  for (int k = 0; k < 5; ++k)
    after_one_of(40ms);
  EXPECT_DOUBLE_EQ(f.w.gradient_seconds(), 0.04);
}

} // namespace
} // namespace gossamer::actors
