#include "gossamer/actors/simulation/event_queue.hpp"
#include "gossamer/base/philox.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace gossamer::actors {
namespace {

struct event {
  virtual_time time;
  std::size_t number;

  friend bool operator==(const event&, const event&) = default;
};

/// Returns events with times below `times`, so that many of them coincide.
std::vector<event> random_events(std::size_t count, std::uint32_t times) {
  random_sequence r{random_stream{1, times, purpose::synthetic}, count};
  std::vector<event> events;
  for (std::size_t i = 0; i < count; ++i)
    events.push_back({virtual_time{r.below(times)}, i});
  return events;
}

TEST(event_queue, sorts_stably) {
  for (std::size_t count : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 20u, 21u, 22u, 31u, 32u, 33u, 1000u, 10'000u})
    for (std::uint32_t times : {1u, 7u, 1'000'000u}) {
      auto events = random_events(count, times);
      event_queue<std::size_t> queue;
      for (const auto& e : events)
        queue.push(e.time, e.number);
      std::ranges::stable_sort(events, {}, &event::time);
      EXPECT_EQ(queue.size(), count);
      for (const auto& e : events) {
        ASSERT_EQ(queue.top_time(), e.time) << count;
        ASSERT_EQ(queue.pop(), e.number) << count;
      }
      EXPECT_TRUE(queue.empty());
    }
}

// Events cause later events, as in a simulation.
TEST(event_queue, equals_a_sorted_list_when_pushes_and_pops_alternate) {
  random_sequence r{random_stream{2, 0, purpose::synthetic}, 0};
  event_queue<std::size_t> queue;
  std::vector<event> list; // in ascending order
  virtual_time now{};
  for (std::size_t i = 0; i < 20'000; ++i) {
    if (!list.empty() && r.below(100) < (i < 10'000 ? 45u : 55u)) {
      now = list.front().time;
      ASSERT_EQ((event{queue.top_time(), queue.pop()}), list.front());
      list.erase(list.begin());
    } else {
      const event e{now + virtual_time{r.below(50)}, i};
      queue.push(e.time, e.number);
      list.insert(std::ranges::upper_bound(list, e.time, {}, &event::time), e);
    }
    ASSERT_EQ(queue.size(), list.size());
  }
}

TEST(event_queue, carries_what_can_only_be_moved_and_lets_go_of_it) {
  event_queue<std::shared_ptr<int>> queue;
  const auto watched = std::make_shared<int>(5);
  for (int i = 10; i > 0; --i)
    queue.push(virtual_time{i}, watched);
  for (int left = 10; left > 0; --left) {
    EXPECT_EQ(watched.use_count(), 1 + left);
    queue.pop();
  }
  EXPECT_EQ(watched.use_count(), 1);

  event_queue<std::unique_ptr<int>> unique;
  unique.push(virtual_time{2}, std::make_unique<int>(2));
  unique.push(virtual_time{1}, std::make_unique<int>(1));
  EXPECT_EQ(*unique.pop(), 1);
  EXPECT_EQ(*unique.pop(), 2);
}

/// Counts how many of its kind exist.
struct counted {
  counted() { ++alive; }
  counted(counted&&) noexcept { ++alive; }
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }

  inline static std::size_t alive = 0;
};

TEST(event_queue, uses_the_places_of_past_events_again) {
  event_queue<counted> queue;
  for (int i = 0; i < 100; ++i)
    queue.push(virtual_time{i}, {});
  for (int i = 0; i < 10'000; ++i) {
    const auto now = queue.top_time();
    queue.push(now + virtual_time{i * 37 % 101}, queue.pop());
    ASSERT_EQ(counted::alive, 100u);
  }
}

TEST(event_queue, takes_the_first_and_the_last_moment) {
  event_queue<int> queue;
  queue.push(end_of_time, 2);
  queue.push(virtual_time{}, 1);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.top_time(), end_of_time);
  EXPECT_EQ(queue.pop(), 2);
}

TEST(event_queue, has_no_first_event_when_it_is_empty) {
  event_queue<int> queue;
  EXPECT_DEATH(queue.top_time(), "there is an event");
  EXPECT_DEATH(queue.pop(), "there is an event");
}

TEST(virtual_time, rounds_to_nanoseconds_and_ends_instead_of_wrapping) {
  EXPECT_EQ(from_seconds(0), virtual_time{0});
  EXPECT_EQ(from_seconds(0.00013), virtual_time{130'000});
  EXPECT_EQ(from_seconds(1.4e-9), virtual_time{1});
  EXPECT_EQ(from_seconds(1.6e-9), virtual_time{2});
  EXPECT_EQ(from_seconds(9e9), virtual_time{9'000'000'000'000'000'000});
  EXPECT_EQ(from_seconds(1e10), end_of_time);
  EXPECT_EQ(from_seconds(std::numeric_limits<double>::infinity()), end_of_time);
  EXPECT_EQ(to_seconds(virtual_time{1'500'000'000}), 1.5);

  EXPECT_EQ(later(virtual_time{1}, virtual_time{2}), virtual_time{3});
  EXPECT_EQ(later(end_of_time, virtual_time{0}), end_of_time);
  EXPECT_EQ(later(end_of_time - virtual_time{1}, virtual_time{1}), end_of_time);
  EXPECT_EQ(later(end_of_time - virtual_time{1}, virtual_time{2}), end_of_time);
  EXPECT_EQ(later(virtual_time{5}, end_of_time), end_of_time);
}

} // namespace
} // namespace gossamer::actors
