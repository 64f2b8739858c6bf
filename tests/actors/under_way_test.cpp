#include "gossamer/actors/frames/under_way.hpp"
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

namespace gossamer::actors {
namespace {

using shares = std::vector<std::shared_ptr<const void>>;

TEST(under_way, is_the_sum_of_the_shares_that_have_not_ended) {
  const auto count = std::make_shared<under_way>([] {});
  auto first = under_way::share(count, 3);
  auto second = under_way::share(count, 5);
  auto copy = second;
  EXPECT_EQ(count->bytes(), 8u);
  second.reset();
  EXPECT_EQ(count->bytes(), 8u) << "a copy is still there";
  copy.reset();
  EXPECT_EQ(count->bytes(), 3u);
}

TEST(under_way, wakes_once_who_was_told_that_it_is_too_much_and_nobody_else) {
  int woken = 0;
  const auto count = std::make_shared<under_way>([&] { ++woken; });
  shares all;
  for (int k = 0; k < 4; ++k)
    all.push_back(under_way::share(count, 10));
  all.pop_back();
  EXPECT_EQ(woken, 0) << "nobody has asked";
  EXPECT_FALSE(count->exceeds(30));
  EXPECT_TRUE(count->exceeds(10));
  EXPECT_TRUE(count->exceeds(15));
  all.pop_back();
  EXPECT_EQ(woken, 0);
  all.pop_back();
  EXPECT_EQ(woken, 1) << "for the larger of the two";
  EXPECT_TRUE(count->exceeds(5));
  all.pop_back();
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(count->bytes(), 0u);
}

TEST(under_way, outlives_who_counts) {
  int woken = 0;
  auto count = std::make_shared<under_way>([&] { ++woken; });
  auto last = under_way::share(count, 1);
  EXPECT_TRUE(count->exceeds(0));
  count.reset();
  last.reset();
  EXPECT_EQ(woken, 1);
}

// A sender that is told to wait while the last share ends would wait for ever if the two missed each other.
TEST(under_way, forgets_nobody_who_asks_while_shares_end_on_another_thread) {
  std::counting_semaphore<> sent{0}, woken{0};
  const auto count = std::make_shared<under_way>([&] { woken.release(); });
  std::shared_ptr<const void> next;
  const auto rounds = test::tries(20'000);
  std::jthread carrier{[&] {
    for (std::uint64_t k = 0; k < rounds; ++k) {
      sent.acquire();
      next.reset();
    }
  }};
  bool missed = false;
  for (std::uint64_t k = 0; k < rounds; ++k) {
    next = under_way::share(count, 1);
    sent.release();
    while (count->exceeds(0) && !missed) // a wake may belong to an earlier round
      missed = !woken.try_acquire_for(std::chrono::seconds(60));
  }
  EXPECT_FALSE(missed);
}

} // namespace
} // namespace gossamer::actors
