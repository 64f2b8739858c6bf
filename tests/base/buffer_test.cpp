#include "gossamer/base/buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

namespace gossamer {
namespace {

TEST(buffer, is_aligned_to_64_bytes) {
  buffer_pool pool;
  for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u, 100'000u}) {
    auto b = pool.allocate(size);
    EXPECT_EQ(b.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0u);
    std::memset(b.data(), 0xA5, size); // the sanitizer checks that so much is really there
  }
}

TEST(buffer, copies_share_and_the_last_one_gives_back) {
  buffer_pool pool;
  auto a = pool.allocate(100);
  EXPECT_TRUE(a.unique());
  {
    auto b = a;
    EXPECT_FALSE(a.unique());
    EXPECT_TRUE(a.shares_with(b));
  }
  EXPECT_TRUE(a.unique());
  EXPECT_EQ(pool.blocks_in_use(), 1u);
  a = {};
  EXPECT_EQ(pool.blocks_in_use(), 0u);
}

TEST(buffer, parts_are_some_of_its_bytes_and_keep_all) {
  buffer_pool pool;
  auto a = pool.allocate(100);
  for (std::size_t i = 0; i < a.size(); ++i)
    a.bytes()[i] = static_cast<std::byte>(i);
  auto b = a.part(10, 50).part(5, 20);
  EXPECT_EQ(b.size(), 20u);
  EXPECT_EQ(b.bytes().front(), std::byte{15});
  EXPECT_TRUE(a.shares_with(b));
  EXPECT_FALSE(b.unique());
  const auto moved = std::move(b), copied = moved;
  a = {};
  EXPECT_EQ(copied.bytes().back(), std::byte{34});
  EXPECT_EQ(pool.blocks_in_use(), 1u);
  EXPECT_EQ(pool.blocks_created(), 1u);
}

TEST(buffer, has_no_parts_beyond_its_end) {
  buffer_pool pool;
  const auto part = pool.allocate(100).part(40, 50);
  EXPECT_EQ(part.part(50, 0).size(), 0u);
  EXPECT_DEATH(std::ignore = part.part(51, 0), "within it");
  EXPECT_DEATH(std::ignore = part.part(1, 50), "within it");
}

TEST(buffer, moved_from_is_empty) {
  buffer_pool pool;
  auto a = pool.allocate(100);
  const auto b = std::move(a);
  EXPECT_EQ(a.size(), 0u); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(b.size(), 100u);
}

TEST(buffer_pool, creates_nothing_once_warm) {
  buffer_pool pool;
  const auto work = [&] {
    std::vector<buffer> held;
    for (std::size_t size : {10u, 1000u, 1000u, 50'000u})
      held.push_back(pool.allocate(size));
  };
  work();
  const auto warm = pool.blocks_created();
  for (int i = 0; i < 1000; ++i)
    work();
  EXPECT_EQ(pool.blocks_created(), warm);
}

/// Holds so many buffers at a time, and returns them.
void use(buffer_pool pool, std::size_t count) {
  std::vector<buffer> held;
  for (std::size_t i = 0; i < count; ++i)
    held.push_back(pool.allocate(1000));
}

TEST(buffer_pool, gives_back_what_is_no_longer_needed) {
  buffer_pool pool;
  use(pool, 500);
  EXPECT_EQ(pool.blocks_held(), 500u);
  for (std::size_t returned = 0; returned < 2 * buffer_pool::surplus_after; returned += 4)
    use(pool, 4); // the first span began with the many
  EXPECT_EQ(pool.blocks_held(), 4u);
  const auto created = pool.blocks_created();
  for (std::size_t returned = 0; returned < 2 * buffer_pool::surplus_after; returned += 4)
    use(pool, 4);
  EXPECT_EQ(pool.blocks_created(), created);
  EXPECT_EQ(pool.blocks_held(), 4u);
}

TEST(buffer_pool, keeps_blocks_that_are_needed_once_in_a_while) {
  buffer_pool pool;
  for (std::size_t returned = 0; returned < 4 * buffer_pool::surplus_after; returned += 1010) {
    use(pool, 10);
    for (int i = 0; i < 1000; ++i)
      use(pool, 1);
  }
  EXPECT_EQ(pool.blocks_created(), 10u);
}

TEST(buffer_pool, may_go_before_its_buffers) {
  std::optional<buffer_pool> pool{std::in_place};
  auto b = pool->allocate(100);
  pool.reset();
  std::memset(b.data(), 1, b.size());
  auto c = b.pool().allocate(5);
  EXPECT_EQ(c.size(), 5u);
}

TEST(buffer_pool, takes_and_returns_blocks_of_the_source_that_it_is_given) {
  static int taken = 0, returned = 0;
  {
    buffer_pool pool{memory_source{.allocate =
                                       [](std::size_t bytes) {
                                         ++taken;
                                         return ::operator new (bytes, std::align_val_t{buffer::alignment});
                                       },
                                   .release =
                                       [](void* memory) noexcept {
                                         ++returned;
                                         ::operator delete (memory, std::align_val_t{buffer::alignment});
                                       }}};
    use(pool, 2);
    for (std::size_t i = 0; i < 2 * buffer_pool::surplus_after; ++i) // one of the two is surplus, and stays
      std::memset(pool.allocate(1000).data(), 1, 1000);
    EXPECT_EQ(taken, 2);
    EXPECT_EQ(returned, 0);
  }
  EXPECT_EQ(returned, 2);
}

TEST(buffer_pool, serves_many_threads) {
  buffer_pool pool;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i) {
        auto b = pool.allocate(64u << (i % 5));
        std::memset(b.data(), t, b.size());
        const auto copy = b;
        EXPECT_EQ(static_cast<int>(copy.data()[b.size() - 1]), t);
      }
    });
  threads.clear();
  EXPECT_EQ(pool.blocks_in_use(), 0u);
}

} // namespace
} // namespace gossamer
