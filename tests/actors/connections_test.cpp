#include "gossamer/actors/frames/connections.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr rank self = 0, peer = 1, other = 2;
constexpr frame_kind ack = frame_kind::acknowledgement;

std::shared_ptr<const roster> roster_of(std::vector<std::uint32_t> incarnations) {
  roster r;
  r.present.assign(incarnations.size(), true);
  r.incarnations = std::move(incarnations);
  return std::make_shared<const roster>(std::move(r));
}

frame frame_of(rank source, std::uint32_t sequence, std::uint32_t incarnation = 0, std::uint64_t step = 0) {
  return {.source = source,
          .incarnation = incarnation,
          .sequence = sequence,
          .label = {frame_kind::model, step},
          .body = {}};
}

frame acknowledgement(rank source, std::uint64_t up_to, std::uint32_t incarnation = 0) {
  return {.source = source, .incarnation = incarnation, .label = {ack, up_to}, .body = {}};
}

/// One worker's connections, on links that only record the frames they are given.
struct fixture {
  explicit fixture(bool acknowledged, std::uint32_t incarnation = 0, std::uint64_t most_under_way = 1 << 20)
      : ends({self, incarnation}, acknowledged, std::make_shared<recording_transport>(*this),
             {most_under_way, [this] { ++woken; }}) {}

  struct recording_link final : link {
    explicit recording_link(std::vector<frame>& frames) : sent(frames) {}
    void send(frame f) override { sent.push_back(std::move(f)); }
    std::vector<frame>& sent;
  };
  struct recording_transport final : transport {
    explicit recording_transport(fixture& f) : owner(f) {}
    void attach(life, frame_sink) override {}
    std::unique_ptr<link> link_to(rank, life to) override {
      owner.linked.push_back(to);
      return std::make_unique<recording_link>(owner.sent_to[to.who]);
    }
    fixture& owner;
  };

  /// Returns the steps of the frames that are handed on because this frame arrived.
  std::vector<std::uint64_t> arrived(frame f, connections::time now = 0s) {
    std::vector<std::uint64_t> steps;
    ends.arrived(std::move(f), now, [&](const frame& next) { steps.push_back(next.label.step); });
    return steps;
  }

  std::vector<std::uint64_t> acknowledged_to(rank to) {
    std::vector<std::uint64_t> numbers;
    for (const auto& f : sent_to[to])
      if (f.label.kind == ack)
        numbers.push_back(f.label.step);
    return numbers;
  }

  std::map<rank, std::vector<frame>> sent_to;
  std::vector<life> linked; ///< the receiving life of each link that was made
  int woken = 0;            ///< number of calls because less is under way
  connections ends;
};

TEST(connections, number_the_frames_to_each_peer_and_make_a_link_when_it_is_used) {
  fixture f{false};
  f.ends.meet(roster_of({0, 0, 0}));
  EXPECT_THAT(f.linked, IsEmpty());
  f.ends.send(peer, frame_of(self, 0), 0s);
  f.ends.send(other, frame_of(self, 0), 0s);
  f.ends.send(peer, frame_of(self, 0), 0s);
  EXPECT_THAT(f.linked, ElementsAre(life{peer, 0}, life{other, 0}));
  ASSERT_EQ(f.sent_to[peer].size(), 2u);
  EXPECT_EQ(f.sent_to[peer][0].sequence, 1u);
  EXPECT_EQ(f.sent_to[peer][1].sequence, 2u);
  EXPECT_EQ(f.sent_to[other][0].sequence, 1u);
  EXPECT_EQ(f.ends.timeout(), std::nullopt) << "trusted links answer nothing";
}

TEST(connections, acknowledge_each_numbered_frame_also_repetitions_but_no_acknowledgement) {
  fixture f{true, 3};
  f.ends.meet(roster_of({3, 0, 0}));
  EXPECT_THAT(f.arrived(frame_of(peer, 2, 0, 20)), IsEmpty());
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 0, 10)), ElementsAre(10, 20));
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 0, 10)), IsEmpty());
  EXPECT_THAT(f.acknowledged_to(peer), ElementsAre(0, 2, 2));
  const auto& answer = f.sent_to[peer].back();
  EXPECT_EQ(answer.source, self);
  EXPECT_EQ(answer.incarnation, 3u);
  EXPECT_EQ(answer.sequence, 0u);
  EXPECT_THAT(f.arrived(acknowledgement(peer, 0)), IsEmpty());
  EXPECT_THAT(f.acknowledged_to(peer), ElementsAre(0, 2, 2));
}

TEST(connections, acknowledge_nothing_on_trusted_links) {
  fixture f{false};
  f.ends.meet(roster_of({0, 0, 0}));
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 0, 10)), ElementsAre(10));
  EXPECT_THAT(f.linked, IsEmpty());
}

TEST(connections, repeat_what_is_not_acknowledged_in_time) {
  fixture f{true};
  f.ends.meet(roster_of({0, 0, 0}));
  f.ends.send(peer, frame_of(self, 0), 0s);
  f.ends.send(other, frame_of(self, 0), 500ms);
  EXPECT_EQ(f.ends.timeout(), 1s) << "of the first of all";
  f.ends.repeat(999ms);
  EXPECT_EQ(f.sent_to[peer].size(), 1u);
  f.ends.repeat(1s);
  ASSERT_EQ(f.sent_to[peer].size(), 2u);
  EXPECT_EQ(f.sent_to[peer][1].sequence, 1u);
  EXPECT_EQ(f.sent_to[other].size(), 1u);
  EXPECT_EQ(f.ends.timeout(), 1500ms);
  f.arrived(acknowledgement(other, 1), 1400ms);
  EXPECT_EQ(f.ends.timeout(), 3s);
  f.arrived(acknowledgement(peer, 1), 2s);
  EXPECT_EQ(f.ends.timeout(), std::nullopt);
  EXPECT_EQ(f.ends.sent().frames, 3u) << "repetitions are traffic, too";
}

TEST(connections, drop_the_frames_of_a_former_life) {
  fixture f{true};
  f.ends.meet(roster_of({0, 2, 0}));
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 1, 10)), IsEmpty());
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 0, 10)), IsEmpty());
  EXPECT_THAT(f.linked, IsEmpty()) << "nor is anything acknowledged";
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 2, 30)), ElementsAre(30)) << "the channel of the present life is untouched";
  f.ends.send(peer, frame_of(self, 0), 0s);
  f.arrived(acknowledgement(peer, 1, 1));
  EXPECT_NE(f.ends.timeout(), std::nullopt) << "a former life acknowledges nothing";
}

TEST(connections, keep_the_frames_of_a_life_that_they_have_not_heard_of_until_they_have) {
  fixture f{true};
  f.ends.meet(roster_of({0, 0, 0}));
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 0, 10)), ElementsAre(10));
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 1, 20)), IsEmpty());
  EXPECT_THAT(f.arrived(frame_of(other, 1, 2, 30)), IsEmpty());
  EXPECT_THAT(f.acknowledged_to(peer), ElementsAre(1)) << "only of the life that is known";

  auto waiting = f.ends.meet(roster_of({0, 1, 1})); // `other` has been started once more since
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_THAT(f.arrived(waiting[0]), ElementsAre(20));
  EXPECT_THAT(f.arrived(waiting[1]), IsEmpty());
  waiting = f.ends.meet(roster_of({0, 1, 2}));
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_THAT(f.arrived(waiting[0]), ElementsAre(30));
}

TEST(connections, keep_what_comes_before_they_know_anybody) {
  fixture f{true, 1};
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 0, 10)), IsEmpty()); // a donor that heard of the new view first
  EXPECT_THAT(f.linked, IsEmpty());
  auto waiting = f.ends.meet(roster_of({1, 0, 0}));
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_THAT(f.arrived(waiting[0]), ElementsAre(10));
  EXPECT_THAT(f.acknowledged_to(peer), ElementsAre(1));
}

TEST(connections, drop_the_frames_of_workers_that_do_not_exist) {
  fixture f{true};
  f.ends.meet(roster_of({0, 0, 0}));
  EXPECT_THAT(f.arrived(frame_of(3, 1, 0)), IsEmpty());
  EXPECT_THAT(f.arrived(frame_of(0xFFFFFFFF, 1, 7)), IsEmpty());
  EXPECT_THAT(f.ends.meet(roster_of({0, 0, 0})), IsEmpty());
}

TEST(connections, send_nothing_more_to_a_peer_that_has_been_lost) {
  fixture f{true};
  f.ends.meet(roster_of({0, 0, 0}));
  f.ends.send(peer, frame_of(self, 0), 0s);
  ASSERT_TRUE(f.ends.timeout());
  const auto before = f.ends.sent();
  auto without = *roster_of({0, 0, 0});
  without.present[peer] = false;
  f.ends.meet(std::make_shared<const roster>(std::move(without)));
  EXPECT_FALSE(f.ends.timeout()) << "what it has not acknowledged is not repeated for ever";
  EXPECT_EQ(f.ends.sent(), before) << "but it stays in the ledger";
  f.ends.arrived(frame_of(peer, 1), 1s, [](const frame&) { FAIL() << "a frame of a life that is over"; });
}

TEST(connections, have_room_until_too_much_is_under_way_to_a_peer) {
  const auto bytes = frame_of(self, 0).wire_bytes();
  fixture f{false, 0, 4 * bytes};
  f.ends.meet(roster_of({0, 0, 0}));
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(f.ends.has_room(peer), k < 3) << k;
    EXPECT_TRUE(f.ends.has_room()) << k;
    f.ends.send(peer, frame_of(self, 0), 0s);
  }
  EXPECT_FALSE(f.ends.has_room());
  EXPECT_TRUE(f.ends.has_room(other)) << "each peer has room of its own";
  auto& carried = f.sent_to[peer];
  EXPECT_THAT(f.arrived(std::exchange(carried.back(), frame{.body = {}})), IsEmpty()) << "of a rank that is not peer's";
  EXPECT_EQ(f.woken, 1) << "wherever a frame ends";
  EXPECT_TRUE(f.ends.has_room());
  EXPECT_FALSE(f.ends.has_room(peer));
  carried.erase(carried.begin(), carried.begin() + 2);
  EXPECT_EQ(f.woken, 2);
  EXPECT_TRUE(f.ends.has_room(peer));
}

TEST(connections, count_as_under_way_what_is_not_acknowledged_and_repetitions_once) {
  fixture f{true, 0, 1};
  f.ends.meet(roster_of({0, 0, 0}));
  f.ends.send(peer, frame_of(self, 0), 0s);
  f.sent_to[peer].clear(); // the frame is lost
  EXPECT_FALSE(f.ends.has_room());
  f.ends.repeat(1s);
  f.sent_to[peer].clear();
  EXPECT_EQ(f.woken, 0);
  f.arrived(acknowledgement(peer, 1), 2s);
  EXPECT_EQ(f.woken, 1);
  EXPECT_TRUE(f.ends.has_room());
}

TEST(connections, have_room_when_the_peer_that_kept_them_has_been_lost) {
  fixture f{false, 0, 1};
  f.ends.meet(roster_of({0, 0, 0}));
  f.ends.send(peer, frame_of(self, 0), 0s);
  EXPECT_FALSE(f.ends.has_room());
  f.ends.meet(roster_of({0, 1, 0}));
  EXPECT_TRUE(f.ends.has_room()) << "though the frame to its former life is still on the way";
  EXPECT_EQ(f.sent_to[peer].size(), 1u);
}

TEST(connections, begin_anew_with_a_peer_that_was_started_anew_and_keep_the_old_traffic) {
  fixture f{true};
  f.ends.meet(roster_of({0, 0, 0}));
  for (int k = 0; k < 3; ++k)
    f.ends.send(peer, frame_of(self, 0), 0s);
  f.ends.send(other, frame_of(self, 0), 0s);
  f.arrived(acknowledgement(other, 1));
  f.arrived(frame_of(peer, 1));
  const auto before = f.ends.sent();
  EXPECT_EQ(before.frames, 5u);

  f.ends.meet(roster_of({0, 1, 0}));
  EXPECT_EQ(f.ends.sent(), before);
  EXPECT_EQ(f.ends.timeout(), std::nullopt) << "what the dead have not acknowledged is forgotten";
  f.ends.send(peer, frame_of(self, 0), 0s);
  EXPECT_EQ(f.linked.back(), (life{peer, 1}));
  EXPECT_EQ(f.sent_to[peer].back().sequence, 1u);
  EXPECT_THAT(f.arrived(frame_of(peer, 1, 1, 40)), ElementsAre(40));
  f.ends.send(other, frame_of(self, 0), 0s);
  EXPECT_EQ(f.sent_to[other].back().sequence, 2u) << "the others are still known";
  EXPECT_EQ(f.linked.size(), 3u);
  EXPECT_EQ(f.ends.sent().frames, before.frames + 3);
}

} // namespace
} // namespace gossamer::actors
