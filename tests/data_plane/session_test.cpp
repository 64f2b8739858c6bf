// Two sessions and the connections between them: frames arrive once and in order, wherever connections break.
#include "gossamer/actors/data_plane/session.hpp"
#include "gossamer/testing/effort.hpp"

#include <gmock/gmock.h>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

constexpr limits generous{.most_elements = 1 << 20, .most_frame_bytes = 8 << 20};

/// One end of a connection. Ranks 0 to 3 live with node 0, 4 to 7 with node 1.
struct end {
  end(std::uint32_t node, std::uint64_t fingerprint)
      : talk({.run = 1, .fingerprint = fingerprint, .node = node, .meant_node = 1 - node}, generous, pool,
             {[node](rank source) { return source / 4 != node; },
              [this](life to, frame f) { arrived(to, std::move(f)); }}) {}

  void push(rank source, rank to, std::size_t bytes) {
    const auto f = test::numbered_frame(pool, source, ++sent[{source, to}], bytes);
    talk.push(test::outgoing(pool, {to, 0}, f));
  }
  void arrived(life to, frame f) {
    EXPECT_EQ(f.label.step, (++got[{f.source, to.who}])) << "once and in order";
    EXPECT_TRUE(test::is_intact(pool, f));
  }

  buffer_pool pool;
  std::map<std::pair<rank, rank>, std::uint64_t> sent, got;
  session talk;
};

/// Connects two ends: `a` opens connections, `b` answers.
class session_test : public testing::Test {
protected:
  /// Moves at most `most` bytes.
  /// @returns number of bytes moved
  static std::size_t carry(end& from, end& to, std::size_t most) {
    if (to.talk.ended())
      return 0;
    auto bytes = test::joined(from.talk.gather());
    bytes.resize(std::min(bytes.size(), most));
    from.talk.wrote(bytes.size());
    test::feed(to.talk, bytes);
    return bytes.size();
  }
  std::size_t carry_hello() {
    const auto bytes = test::joined(a.talk.gather());
    a.talk.wrote(bytes.size());
    b.talk.answer(*read_hello(std::span<const std::byte, hello_bytes>{bytes.data(), hello_bytes}));
    return bytes.size();
  }
  void connect() {
    a.talk.begin();
    carry_hello();
  }
  void disconnect() {
    a.talk.lost();
    b.talk.lost();
  }
  void run_dry() {
    for (bool moved = true; moved;) {
      moved = carry(a, b, SIZE_MAX) > 0;
      moved = carry(b, a, SIZE_MAX) > 0 || moved;
      if (!moved)
        for (auto* e : {&a, &b})
          if (e->talk.owes_acknowledgement()) {
            e->talk.acknowledge();
            moved = true;
          }
    }
  }
  void expect_all_arrived() {
    EXPECT_EQ(a.sent, b.got);
    EXPECT_EQ(b.sent, a.got);
    EXPECT_FALSE(a.talk.has_frames());
    EXPECT_FALSE(b.talk.has_frames());
    EXPECT_EQ(a.pool.blocks_in_use() + b.pool.blocks_in_use(), 0u);
  }

  end a{0, 7}, b{1, 7};
};

TEST_F(session_test, brings_frames_both_ways) {
  a.push(0, 4, 10);
  b.push(4, 0, 1 << 20);
  connect();
  run_dry();
  expect_all_arrived();
}

TEST_F(session_test, loses_and_repeats_nothing_whatever_byte_it_breaks_at) {
  for (std::size_t at = 0;; ++at) {
    end x{0, 7}, y{1, 7};
    for (auto [source, to, bytes] : {std::tuple{0u, 4u, 40u}, {0u, 4u, 0u}, {1u, 5u, 7u}, {0u, 5u, 130u}}) {
      x.push(source, to, bytes);
      y.push(to, source, bytes);
    }
    bool broke = false;
    std::size_t passed = 0;
    for (bool first = true; first || broke; first = false) {
      broke = false;
      x.talk.begin();
      const auto hello = test::joined(x.talk.gather());
      x.talk.wrote(hello.size());
      y.talk.answer(*read_hello(std::span<const std::byte, hello_bytes>{hello.data(), hello_bytes}));
      for (std::size_t moved = 1; moved > 0 && !broke;) {
        moved = 0;
        for (auto [from, to] : {std::pair{&x, &y}, {&y, &x}}) {
          const auto most = first ? std::min<std::size_t>(at - passed, 23) : SIZE_MAX;
          const auto now = carry(*from, *to, most);
          passed += first ? now : 0;
          moved += now;
        }
        broke = first && passed == at;
      }
      for (auto* e : {&x, &y})
        e->talk.lost();
    }
    ASSERT_EQ(x.sent, y.got) << at;
    ASSERT_EQ(y.sent, x.got) << at;
    if (passed < at)
      break;
  }
}

TEST_F(session_test, loses_and_repeats_nothing_over_many_random_connections) {
  for (std::uint64_t seed = 0; seed < gossamer::test::tries(30); ++seed) {
    end x{0, 7}, y{1, 7};
    random_sequence random{{seed, 0, purpose::synthetic}, 0};
    const auto pick = [&](std::uint32_t below) { return random.below(below); };
    for (int connection = 0; connection < 20; ++connection) {
      x.talk.begin();
      const auto hello = test::joined(x.talk.gather());
      x.talk.wrote(hello.size());
      y.talk.answer(*read_hello(std::span<const std::byte, hello_bytes>{hello.data(), hello_bytes}));
      for (auto steps = connection == 19 ? 100'000 : pick(40); steps-- > 0;) {
        auto& from = pick(2) == 0 ? x : y;
        if (connection < 15 && pick(3) == 0)
          from.push((&from == &x ? 0 : 4) + pick(4), (&from == &x ? 4 : 0) + pick(4),
                    pick(pick(8) == 0 ? 900'000 : 3000));
        if (pick(20) == 0 && from.talk.owes_acknowledgement())
          from.talk.acknowledge();
        carry(from, &from == &x ? y : x, connection == 19 ? SIZE_MAX : pick(pick(2) == 0 ? 100 : 300'000));
        if (connection == 19 && !x.talk.has_frames() && !y.talk.has_frames())
          break;
      }
      for (auto* e : {&x, &y})
        e->talk.lost();
    }
    ASSERT_EQ(x.sent, y.got) << seed;
    ASSERT_EQ(y.sent, x.got) << seed;
    ASSERT_FALSE(x.talk.has_frames() || y.talk.has_frames());
  }
}

TEST_F(session_test, frees_the_sender_when_the_receiver_acknowledges_what_it_owes) {
  a.push(0, 4, 10);
  connect();
  carry(b, a, SIZE_MAX);
  carry(a, b, SIZE_MAX);
  EXPECT_TRUE(a.talk.has_frames() && b.talk.owes_acknowledgement());
  run_dry();
  expect_all_arrived();
}

TEST_F(session_test, ends_for_both_with_the_same_reason_when_they_cannot_work_together) {
  end other{1, 8};
  a.talk.begin();
  const auto hello = test::joined(a.talk.gather());
  a.talk.wrote(hello.size());
  other.talk.answer(*read_hello(std::span<const std::byte, hello_bytes>{hello.data(), hello_bytes}));
  ASSERT_TRUE(other.talk.ended());
  carry(other, a, SIZE_MAX);
  ASSERT_TRUE(a.talk.ended());
  for (const auto& e : {a.talk.ended(), other.talk.ended()}) {
    EXPECT_TRUE(e->is_final);
    EXPECT_THAT(e->why.sentence, HasSubstr("fingerprint"));
  }
}

TEST_F(session_test, tells_the_peer_which_rule_it_broke) {
  connect();
  run_dry();
  const auto f = test::numbered_frame(a.pool, 5, 1, 10); // a frame of a rank that lives with the receiver
  a.talk.push(test::outgoing(a.pool, {4, 0}, f));
  carry(a, b, SIZE_MAX);
  ASSERT_TRUE(b.talk.ended() && b.talk.ended()->is_final);
  carry(b, a, SIZE_MAX);
  ASSERT_TRUE(a.talk.ended() && a.talk.ended()->is_final);
  EXPECT_EQ(a.talk.ended()->why, b.talk.ended()->why);
  EXPECT_THAT(a.talk.ended()->why.sentence, HasSubstr("rank 5, which is not there"));
}

TEST_F(session_test, gets_over_a_hello_that_is_out_of_date) {
  a.push(0, 4, 10);
  hello old{.run = 1, .fingerprint = 7, .received = 0, .node = 1, .meant_node = 0};
  connect();
  run_dry();
  disconnect();
  a.talk.answer(old);
  ASSERT_TRUE(a.talk.ended() && !a.talk.ended()->is_final);
  a.talk.lost();
  connect();
  a.push(0, 4, 10);
  run_dry();
  expect_all_arrived();
}

} // namespace
} // namespace gossamer::actors
