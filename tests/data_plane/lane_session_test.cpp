// Lanes of the control plane over connections that break at every byte.
#include "gossamer/actors/data_plane/lane_session.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

namespace gossamer::actors {
namespace {

constexpr lane_id id{std::byte{7}, std::byte{9}};

/// One end, with what it has heard.
struct lane_end {
  lane_session session{id};
  std::vector<std::byte> heard;
  std::vector<std::byte> hello;
  bool greeted = false;

  void connect() {
    hello.clear();
    greeted = false;
    session.begin();
  }
  /// Takes bytes of the connection, at most `room` of payload at a time.
  void take(std::span<const std::byte> come, std::size_t room = 1000) {
    if (!greeted) {
      const auto now = std::min(come.size(), lane_hello_bytes - hello.size());
      hello.insert(hello.end(), come.begin(), come.begin() + static_cast<std::ptrdiff_t>(now));
      come = come.subspan(now);
      if (hello.size() < lane_hello_bytes)
        return;
      const auto theirs = read_lane_hello(std::span{hello}.first<lane_hello_bytes>());
      ASSERT_TRUE(theirs);
      greeted = session.hear(*theirs);
      ASSERT_TRUE(greeted);
    }
    std::vector<std::byte> payload(room);
    for (std::size_t n = 1; n > 0 || !come.empty();) {
      n = session.take(come, payload);
      heard.insert(heard.end(), payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(n));
      ASSERT_FALSE(session.objection()) << *session.objection();
      if (session.peer_has_finished())
        return;
    }
  }
};

/// Two ends, and a connection that loses what is on its way when it breaks.
struct two_ends {
  lane_end a, b;

  void connect() {
    a.connect();
    b.connect();
  }
  void lose() {
    a.session.lost();
    b.session.lost();
  }
  /// Moves at most `most` bytes each way. @returns the bytes moved
  std::size_t move(std::size_t most) {
    const auto one_way = [most](lane_end& from, lane_end& to) {
      std::size_t moved = 0;
      for (std::size_t n = 1; n > 0 && moved < most;) {
        n = 0;
        for (const auto piece : from.session.gather())
          if (n == 0 && !piece.empty()) {
            n = std::min(piece.size(), most - moved);
            const std::vector<std::byte> bytes(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
            from.session.wrote(n);
            to.take(bytes);
          }
        moved += n;
      }
      return moved;
    };
    return one_way(a, b) + one_way(b, a);
  }
};

std::vector<std::byte> some_bytes(std::size_t count, std::uint32_t salt) {
  std::vector<std::byte> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::byte>((i * 131 + salt + (i >> 8)) & 0xff);
  return result;
}

TEST(lane_session, loses_and_repeats_nothing_wherever_a_connection_breaks) {
  const auto from_a = some_bytes(300, 1), from_b = some_bytes(170, 2);
  for (std::size_t at = 0; at < 600; ++at) {
    two_ends all;
    all.a.session.push(from_a);
    all.a.session.tell_door(4711);
    all.b.session.push(from_b);
    all.connect();
    for (std::size_t moved = 0; moved < at && all.move(1) > 0; ++moved) {
    }
    all.lose();
    all.a.session.push(from_b); // meanwhile
    all.connect();
    while (all.move(50) > 0) {
    }
    auto expected = from_a;
    expected.insert(expected.end(), from_b.begin(), from_b.end());
    ASSERT_EQ(all.b.heard, expected) << "broke after " << at;
    ASSERT_EQ(all.a.heard, from_b) << "broke after " << at;
    ASSERT_EQ(all.b.session.peer_door(), 4711) << "broke after " << at;
  }
}

TEST(lane_session, carries_much_over_many_connections) {
  random_stream draws{1, 0, purpose::interleaving};
  two_ends all;
  std::vector<std::byte> sent;
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint32_t n) { return draws.word(0, drawn++) % n; };
  for (int k = 0; k < 200; ++k) {
    all.connect();
    for (int pushes = 0; pushes < 3; ++pushes) {
      const auto more = some_bytes(below(100'000), static_cast<std::uint32_t>(k));
      all.a.session.push(more);
      sent.insert(sent.end(), more.begin(), more.end());
      all.move(below(200'000));
    }
    all.lose();
  }
  all.connect();
  while (all.move(1 << 20) > 0) {
  }
  EXPECT_EQ(all.b.heard, sent);
  EXPECT_GT(sent.size(), 10u << 20);
}

TEST(lane_session, has_no_room_while_the_connection_is_full_and_while_nothing_is_acknowledged) {
  two_ends all;
  all.a.session.push(some_bytes(100'000, 3));
  EXPECT_FALSE(all.a.session.has_room());
  all.connect();
  while (all.move(1 << 20) > 0) {
  }
  EXPECT_TRUE(all.a.session.has_room());

  lane_session deaf{id};
  deaf.begin();
  ASSERT_TRUE(deaf.hear({.id = id}));
  std::size_t pushed = 0;
  for (; deaf.has_room(); pushed += 60'000) {
    deaf.push(some_bytes(60'000, 4));
    for (auto next = deaf.gather(); !next[0].empty() || !next[1].empty(); next = deaf.gather())
      deaf.wrote(next[0].size() + next[1].size());
  }
  EXPECT_NEAR(static_cast<double>(pushed), static_cast<double>(lane_session::most_kept), 60'000);
}

TEST(lane_session, gives_the_memory_of_what_is_acknowledged_back) {
  two_ends all;
  all.a.session.push(some_bytes(lane_session::longest_record + 1, 6));
  EXPECT_NE(all.a.session.gather()[1].data(), nullptr) << "an empty part of what is kept";
  all.connect();
  while (all.move(1 << 20) > 0) {
  }
  all.b.session.give_sign(); // which acknowledges the rest
  all.move(1000);
  EXPECT_EQ(all.a.session.gather()[1].data(), nullptr);
}

TEST(lane_session, gives_signs_of_life_that_carry_nothing) {
  two_ends all;
  all.connect();
  while (all.move(50) > 0) {
  }
  all.a.session.give_sign();
  EXPECT_EQ(all.move(1000), 12u) << "bytes of a header";
  EXPECT_EQ(all.move(1000), 0u);
  EXPECT_TRUE(all.b.heard.empty());
}

TEST(lane_session, ends_behind_all_that_was_pushed) {
  two_ends all;
  all.connect();
  all.a.session.push(some_bytes(500, 4));
  all.a.session.finish();
  while (all.move(10) > 0) {
  }
  EXPECT_TRUE(all.a.session.has_finished());
  EXPECT_TRUE(all.b.session.peer_has_finished());
  EXPECT_EQ(all.b.heard, some_bytes(500, 4));
}

TEST(lane_session, knows_another_process_by_its_hello) {
  lane_session mine{id};
  mine.push(some_bytes(10, 5));
  mine.begin();
  EXPECT_FALSE(mine.hear({.id = {}, .received = 0}));
  EXPECT_FALSE(mine.hear({.id = id, .received = 11})) << "more than it can have";
  EXPECT_TRUE(mine.hear({.id = id, .received = 10}));
}

TEST(lane_session, objects_to_records_that_cannot_be) {
  const auto objection_to = [](std::uint32_t count, std::uint64_t received) {
    lane_session s{id};
    s.begin();
    EXPECT_TRUE(s.hear({.id = id}));
    std::array<std::byte, 12> header{};
    std::memcpy(header.data(), &count, sizeof count); // of a little-endian machine
    std::memcpy(header.data() + sizeof count, &received, sizeof received);
    std::array<std::byte, 16> room{};
    std::span<const std::byte> come{header};
    EXPECT_EQ(s.take(come, room), 0u);
    return s.objection().value_or("");
  };
  EXPECT_EQ(objection_to(10, 0), "");
  EXPECT_THAT(objection_to(10, 1), testing::HasSubstr("has not been sent"));
  EXPECT_THAT(objection_to((64 << 10) + 1, 0), testing::HasSubstr("too long"));
  EXPECT_EQ(objection_to(0xfffffffe, 65'535), "");
  EXPECT_THAT(objection_to(0xfffffffe, 65'536), testing::HasSubstr("has not been sent")) << "no port";
  EXPECT_FALSE(read_lane_hello(written_lane_hello{}));
}

} // namespace
} // namespace gossamer::actors
