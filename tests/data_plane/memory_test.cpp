#include "gossamer/actors/data_plane/detail/shared_memory.hpp"
#include "gossamer/testing/effort.hpp"

#include <gmock/gmock.h>

#include <array>
#include <semaphore>
#include <thread>
#include <unistd.h>

#include "data_plane/support.hpp"

namespace gossamer::actors::detail {
namespace {

struct two_ends {
  ring_state shared{};
  std::array<std::byte, 1000> bytes{};
  byte_ring writer{shared, bytes}, reader{shared, bytes};
};

std::vector<std::byte> counted(std::size_t first, std::size_t count) {
  std::vector<std::byte> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::byte>((first + i) * 31 >> 3);
  return result;
}

TEST(byte_ring, gives_what_was_written_across_its_end) {
  two_ends both;
  for (std::size_t round = 0, at = 0; round < 50; ++round) {
    const auto bytes = counted(at, 333);
    at += bytes.size();
    ASSERT_EQ(both.writer.write(bytes), bytes.size());
    std::vector<std::byte> got(500);
    ASSERT_EQ(both.reader.read(got), bytes.size());
    got.resize(bytes.size());
    EXPECT_EQ(got, bytes);
  }
}

TEST(byte_ring, takes_no_more_than_there_is_room_for) {
  two_ends both;
  EXPECT_EQ(both.writer.write(counted(0, 1500)), 1000u);
  EXPECT_EQ(both.writer.write(counted(0, 1)), 0u);
  std::vector<std::byte> got(100);
  EXPECT_EQ(both.reader.read(got), 100u);
  EXPECT_EQ(both.writer.write(counted(0, 1500)), 100u);
}

TEST(byte_ring, wakes_who_waits_once) {
  two_ends both;
  std::vector<std::byte> got(600);
  EXPECT_FALSE(both.writer.must_wake_reader());
  EXPECT_TRUE(both.reader.wait_for_bytes());
  both.writer.write(counted(0, 1000));
  EXPECT_TRUE(both.writer.must_wake_reader());
  EXPECT_FALSE(both.writer.must_wake_reader());
  EXPECT_FALSE(both.reader.wait_for_bytes()) << "there is something to read";
  EXPECT_TRUE(both.writer.wait_for_room());
  both.reader.read(std::span{got}.first(400));
  EXPECT_FALSE(both.reader.must_wake_writer()) << "it would not be worth it yet";
  both.reader.read(std::span{got}.first(100));
  EXPECT_TRUE(both.reader.must_wake_writer());
  EXPECT_FALSE(both.reader.must_wake_writer());
}

TEST(byte_ring, wakes_nobody_for_nothing) {
  two_ends both;
  EXPECT_TRUE(both.reader.wait_for_bytes());
  EXPECT_FALSE(both.writer.must_wake_reader()) << "nothing was written";
  both.writer.write(counted(0, 1000));
  EXPECT_TRUE(both.writer.must_wake_reader());
  EXPECT_TRUE(both.writer.wait_for_room());
  EXPECT_FALSE(both.reader.must_wake_writer()) << "nothing was read";
  std::vector<std::byte> got(1000);
  both.reader.read(got);
  EXPECT_TRUE(both.reader.must_wake_writer());
  EXPECT_TRUE(both.reader.wait_for_bytes());
  EXPECT_FALSE(both.writer.must_wake_reader()) << "nothing was written since";
}

TEST(byte_ring, does_not_believe_counts_that_cannot_be) {
  std::vector<std::byte> got(10);
  for (const std::uint64_t lie : {std::uint64_t{1001}, ~std::uint64_t{0}}) {
    two_ends both;
    both.shared.written = lie;
    EXPECT_EQ(both.reader.read(got), std::nullopt);
  }
  for (const std::uint64_t lie : {1u, 1001u}) {
    two_ends both;
    both.shared.read = lie;
    EXPECT_EQ(both.writer.write(got), std::nullopt);
  }
}

TEST(byte_ring, carries_all_bytes_between_two_threads_that_sleep) {
  const std::size_t total = 1000 * gossamer::test::tries(1000);
  two_ends both;
  std::counting_semaphore<> reader_called{0}, writer_called{0};
  std::jthread writer{[&] {
    random_sequence random{{1, 0, purpose::synthetic}, 0};
    for (std::size_t sent = 0; sent < total;) {
      const auto bytes = counted(sent, std::min<std::size_t>(total - sent, 1 + random.below(1500)));
      const auto now = both.writer.write(bytes).value();
      sent += now;
      if (both.writer.must_wake_reader())
        reader_called.release();
      if (now == 0 && both.writer.wait_for_room())
        writer_called.acquire();
    }
  }};
  random_sequence random{{2, 0, purpose::synthetic}, 0};
  std::size_t wrong = 0;
  for (std::size_t got = 0; got < total;) {
    std::vector<std::byte> bytes(1 + random.below(1500));
    const auto now = both.reader.read(bytes).value();
    bytes.resize(now);
    wrong += bytes != counted(got, now);
    got += now;
    if (both.reader.must_wake_writer())
      writer_called.release();
    if (now == 0 && both.reader.wait_for_bytes())
      reader_called.acquire();
  }
  EXPECT_EQ(wrong, 0u);
}

hello offering(const shared_memory& memory) {
  return {.run = 1, .fingerprint = 2, .node = 3, .meant_node = 4, .memory = memory.place()};
}

TEST(shared_memory, is_seen_by_who_hears_the_hello_that_offers_it) {
  const auto mine = shared_memory::make();
  ASSERT_TRUE(mine);
  const auto h = offering(*mine);
  mine->belongs_to(h);
  const auto theirs = shared_memory::of(h);
  ASSERT_TRUE(theirs);
  mine->was_found();
  for (const auto& [from, to] : {std::pair{mine.get(), theirs.get()}, std::pair{theirs.get(), mine.get()}}) {
    auto out = from->out(), in = to->in();
    const auto bytes = counted(0, 5000);
    EXPECT_EQ(out.write(bytes), bytes.size());
    std::vector<std::byte> got(bytes.size());
    EXPECT_EQ(in.read(got), bytes.size());
    EXPECT_EQ(got, bytes);
  }
}

TEST(shared_memory, lets_its_ends_call_each_other_and_see_each_other_go) {
  auto mine = shared_memory::make();
  ASSERT_TRUE(mine);
  const auto h = offering(*mine);
  mine->belongs_to(h);
  auto theirs = shared_memory::of(h);
  ASSERT_TRUE(theirs);
  mine->was_found();
  const auto calls_to_me = mine->take_calls(), calls_to_them = theirs->take_calls();
  std::array<char, 8> some{};
  EXPECT_EQ(::read(calls_to_me.get(), some.data(), some.size()), -1);
  theirs->call();
  EXPECT_EQ(::read(calls_to_me.get(), some.data(), some.size()), 1);
  mine->call();
  EXPECT_EQ(::read(calls_to_them.get(), some.data(), some.size()), 1);
  mine.reset();
  EXPECT_EQ(::read(calls_to_them.get(), some.data(), some.size()), 0);
  theirs.reset();
  EXPECT_EQ(::read(calls_to_me.get(), some.data(), some.size()), 0);
}

TEST(shared_memory, is_not_that_of_another_hello) {
  const auto mine = shared_memory::make();
  ASSERT_TRUE(mine);
  const auto h = offering(*mine);
  EXPECT_FALSE(shared_memory::of(h)) << "it does not say yet whose it is";
  mine->belongs_to(h);
  auto other = h;
  other.meant_node = 5;
  EXPECT_FALSE(shared_memory::of(other));
}

TEST(shared_memory, is_no_other_file_and_no_other_process) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const auto self = static_cast<std::uint32_t>(getpid());
  for (const auto file : {static_cast<std::uint32_t>(ends[0]), 0u, 1'000'000u})
    EXPECT_FALSE(shared_memory::of({.memory = {self, file}}));
  EXPECT_FALSE(shared_memory::of({.memory = {0, 0}}));
  EXPECT_FALSE(shared_memory::of({.memory = {0xffffffff, 3}}));
  for (const int end : ends)
    close(end);
}

} // namespace
} // namespace gossamer::actors::detail
