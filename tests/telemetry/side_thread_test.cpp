#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/actors/telemetry/side_thread.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Shared with tasks, which may outlive a test that fails.
struct gate {
  std::latch reached{1}, open{1};
  void pass() {
    reached.count_down();
    open.wait();
  }
};

/// A thread whose task ends when the gate opens.
struct stalled_thread {
  std::shared_ptr<gate> at = std::make_shared<gate>();
  side_thread thread;

  stalled_thread() {
    thread.post([at = at] { at->pass(); });
    at->reached.wait();
  }
};

TEST(a_side_thread, does_everything_in_order) {
  const auto seen = std::make_shared<std::vector<int>>();
  side_thread thread;
  for (int i = 0; i < 1000; ++i)
    thread.post([seen, i] { seen->push_back(i); });
  thread.finish();
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(*seen, expected);
}

TEST(a_side_thread, takes_orders_while_it_is_stalled_and_offers_while_there_is_room) {
  stalled_thread stalled;
  const auto seen = std::make_shared<std::vector<std::string>>();
  const auto note = [seen](std::string what) { return [seen, what] { seen->push_back(what); }; };
  EXPECT_TRUE(stalled.thread.offer(note("first offer"), 2));
  stalled.thread.post(note("order"));
  EXPECT_FALSE(stalled.thread.offer(note("second offer"), 2));
  stalled.thread.post(note("another order"));
  EXPECT_EQ(stalled.thread.left_out(), 1u);
  EXPECT_FALSE(stalled.thread.finish_within(0ms));
  stalled.at->open.count_down();
  stalled.thread.finish();
  EXPECT_THAT(*seen, ElementsAre("first offer", "order", "another order"));
  EXPECT_TRUE(stalled.thread.finish_within(0ms));
}

TEST(a_side_thread, is_left_behind_with_what_never_ends_but_does_the_rest_when_it_does) {
  const auto done = std::make_shared<std::latch>(1);
  std::shared_ptr<gate> at;
  {
    stalled_thread stalled;
    at = stalled.at;
    stalled.thread.post([done] { done->count_down(); });
  } // ends without waiting, or this test would hang
  EXPECT_FALSE(done->try_wait());
  at->open.count_down();
  done->wait();
}

TEST(a_side_thread, says_to_everybody_what_failed_and_does_nothing_more) {
  const auto later = std::make_shared<std::atomic<int>>(0);
  stalled_thread stalled;
  auto& thread = stalled.thread;
  thread.post([] { throw error(errc::io, "the disk is full", "make room"); });
  thread.post([later] { ++*later; });
  thread.check();
  stalled.at->open.count_down();
  const auto expect_failure = [](auto what) {
    try {
      what();
      ADD_FAILURE() << "nothing is thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::io);
      EXPECT_EQ(e.sentence(), "the disk is full");
    }
  };
  expect_failure([&] { thread.finish(); });
  expect_failure([&] { thread.finish_within(1s); });
  expect_failure([&] { thread.check(); });
  expect_failure([&] { thread.post([later] { ++*later; }); });
  EXPECT_EQ(*later, 0);
}

TEST(a_side_thread, ends_what_a_task_owned_before_it_says_that_all_is_done) {
  const auto owned = std::make_shared<int>(0);
  side_thread thread;
  thread.post([owned] {});
  thread.finish();
  EXPECT_EQ(owned.use_count(), 1);
}

struct log final : run_observer {
  std::vector<std::string> lines;
  void on_progress(const progress_record& p) override {
    lines.push_back("progress " + std::to_string(static_cast<int>(p.time_s)));
  }
  void on_evaluation(const evaluation_record& r) override { lines.push_back("step " + std::to_string(r.step)); }
  void on_event(const event_record& r) override {
    lines.push_back(std::to_string(static_cast<int>(r.time_s)) + " " + r.what);
  }
};

TEST(a_deferred_observer, loses_progress_alone_while_the_other_one_is_stalled) {
  constexpr auto room = most_progress_waiting;
  stalled_thread stalled;
  const auto heard = std::make_shared<log>();
  deferred_observer observer{stalled.thread, heard};
  for (std::size_t i = 0; i < 10 * room; ++i) {
    progress_record progress;
    progress.time_s = static_cast<double>(i);
    observer.on_progress(progress);
    evaluation_record evaluation;
    evaluation.step = i;
    observer.on_evaluation(evaluation);
  }
  observer.on_event({7, event_kind::loss, "worker 3 is lost"});
  EXPECT_TRUE(heard->lines.empty()) << "whoever trains does the writing";
  stalled.at->open.count_down();
  stalled.thread.finish();

  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 10 * room; ++i) {
    if (2 * i < room) // waiting records are pairs
      expected.push_back("progress " + std::to_string(i));
    expected.push_back("step " + std::to_string(i));
  }
  expected.emplace_back("7 worker 3 is lost");
  EXPECT_EQ(heard->lines, expected);
  EXPECT_EQ(stalled.thread.left_out(), 10 * room - room / 2);
}

TEST(a_deferred_observer, throws_what_the_other_one_has_thrown) {
  struct full_disk final : run_observer {
    void on_evaluation(const evaluation_record&) override { throw error(errc::io, "the disk is full", ""); }
  };
  side_thread thread;
  deferred_observer observer{thread, std::make_shared<full_disk>()};
  observer.on_evaluation({});
  EXPECT_THROW(thread.finish(), error);
  EXPECT_THROW(observer.on_progress({}), error);
}

} // namespace
} // namespace gossamer::actors
