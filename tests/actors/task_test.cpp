#include "gossamer/actors/worker/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gossamer::actors {
namespace {

task<int> answer(signal& s) {
  co_await s.wait();
  co_return 42;
}

task<> store(signal& s, int& into) { into = co_await answer(s); }

TEST(task, does_nothing_until_it_is_started_and_waits_for_its_signal) {
  signal s;
  int value = 0;
  auto t = store(s, value);
  s.notify(); // forgotten, as no coroutine waits yet
  t.start();
  EXPECT_EQ(value, 0);
  EXPECT_FALSE(t.done());
  s.notify();
  EXPECT_EQ(value, 42);
  EXPECT_TRUE(t.done());
}

task<int> fail(signal& s) {
  co_await s.wait();
  throw std::runtime_error("inner");
}

task<> pass_on(signal& s) { co_await fail(s); }

task<> handle(signal& s, std::string& heard) {
  try {
    co_await fail(s);
  } catch (const std::runtime_error& e) {
    heard = e.what();
  }
}

TEST(task, carries_exceptions_to_whoever_awaits) {
  signal s;
  std::string heard;
  auto t = handle(s, heard);
  t.start();
  s.notify();
  EXPECT_EQ(heard, "inner");
  t.check();
}

TEST(task, hands_what_nobody_caught_to_its_owner) {
  signal s;
  auto t = pass_on(s);
  t.start();
  t.check();
  s.notify();
  EXPECT_TRUE(t.done());
  EXPECT_THROW(t.check(), std::runtime_error);
}

task<> hold(signal& s, std::shared_ptr<int> resource) {
  co_await s.wait();
  ++*resource;
}

TEST(task, destroyed_while_suspended_frees_what_it_holds) {
  signal s;
  const auto resource = std::make_shared<int>(0);
  {
    auto t = hold(s, resource);
    t.start();
    EXPECT_EQ(resource.use_count(), 2);
  }
  EXPECT_EQ(resource.use_count(), 1);
}

task<int> deep(int depth) {
  if (depth == 0)
    co_return 0;
  co_return 1 + co_await deep(depth - 1);
}

task<> measure(int& depth) { depth = co_await deep(100); }

task<int> at_once() { co_return 100; }

task<> add_up(std::vector<task<int>>& all, int& sum) {
  for (auto& t : all)
    sum += co_await t;
}

TEST(task, can_be_awaited_when_it_has_begun_and_when_it_has_ended) {
  signal s;
  std::vector<task<int>> all;
  all.push_back(answer(s));
  all.push_back(answer(s));
  all.push_back(at_once());
  for (auto& t : all)
    t.start();
  int sum = 0;
  auto whole = add_up(all, sum);
  whole.start();
  EXPECT_FALSE(whole.done());
  s.notify(); // wakes both tasks
  EXPECT_TRUE(whole.done());
  EXPECT_EQ(sum, 42 + 42 + 100);
}

TEST(task, nests) {
  int depth = 0;
  auto t = measure(depth);
  t.start();
  EXPECT_EQ(depth, 100);
}

} // namespace
} // namespace gossamer::actors
