#pragma once

#include "gossamer/actors/data_plane/data_plane.hpp"
#include "gossamer/testing/effort.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "data_plane/raw_connection.hpp"
#include "data_plane/support.hpp"

namespace gossamer::actors::test {

inline constexpr auto deadline = std::chrono::seconds(60);
inline constexpr rank ranks_a_node = 4;
inline constexpr std::uint64_t run = 0x1234;

/// Counts arrivals and losses. `wait` returns false if its condition does not come true in time.
class ledger {
public:
  template <class Change>
  void note(Change change) {
    const std::scoped_lock lock{mutex_};
    change(*this);
    changed_.notify_all();
  }
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, deadline, [&] { return condition(*this); });
  }

  std::map<std::pair<rank, rank>, std::uint64_t> got; ///< frames of each pair
  std::uint64_t frames = 0, wrong = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> lost; ///< reason, by reporting and lost node
  std::uint64_t losses = 0;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

inline std::vector<rank> ranks_of(std::uint32_t node) {
  std::vector<rank> result;
  for (rank r = 0; r < ranks_a_node; ++r)
    result.push_back(node * ranks_a_node + r);
  return result;
}

/// Several nodes in one process, over real sockets on 127.0.0.1.
class data_plane_test : public testing::Test {
protected:
  using nodes = std::map<std::uint32_t, node_address>;

  data_plane_setup setup(std::uint32_t node) {
    return {.run = run,
            .fingerprint = 7,
            .node = node,
            .most = limits_for(1 << 20),
            .pool = pool,
            .listen_on = {"127.0.0.1", 0},
            .shows = shows,
            .share_memory = share_memory,
            .complain = [this, node](std::uint32_t whom, const std::string& why) {
              seen.note([&](ledger& l) {
                l.lost[{node, whom}] = why;
                ++l.losses;
              });
            }};
  }
  data_plane& add(data_plane_setup s) {
    const auto node = s.node;
    planes.push_back(std::make_unique<data_plane>(std::move(s)));
    addresses[node] = {0, planes.back()->listens_on(), ranks_of(node)};
    return *planes.back();
  }
  void start(std::uint32_t count) {
    for (std::uint32_t node = 0; node < count; ++node)
      add(setup(node));
    meet();
    for (std::uint32_t node = 0; node < count; ++node)
      for (const auto r : ranks_of(node))
        attach(node, r);
  }
  /// Node 0 sends node 1 a frame that arrives, and another one when node 1 has ended.
  void send_to_a_node_that_ends(const data_plane_setup& mine) {
    add(mine);
    add(setup(1));
    meet();
    attach(1, 4);
    send(0, 0, 4, 1);
    EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 1; }));
    planes[1].reset();
    send(0, 0, 4, 2);
  }
  void meet() {
    for (auto& p : planes)
      p->meet(addresses);
  }
  void attach(std::uint32_t node, rank who) {
    planes[node]->attach({who, 0}, [this, who](const frame& f) {
      const bool intact = test::is_intact(pool, f);
      seen.note([&](ledger& l) {
        l.wrong += f.label.step != ++l.got[{f.source, who}] || !intact;
        ++l.frames;
      });
    });
  }
  void send(std::uint32_t node, rank from, rank to, std::uint64_t number, std::size_t bytes = 100) {
    planes[node]->link_to(from, {to, 0})->send(test::numbered_frame(pool, from, number, bytes));
  }
  std::string why_lost(std::uint32_t by, std::uint32_t whom) {
    EXPECT_TRUE(seen.wait([&](const ledger& l) { return l.lost.contains({by, whom}); }));
    return reason(by, whom);
  }
  /// Expects that a node gives up another one for this reason. On a busy machine others may come before, because a
  /// patience that a test can wait for is short: that the other node does not answer.
  void expect_lost(std::uint32_t by, std::uint32_t whom, const testing::Matcher<std::string>& why) {
    EXPECT_TRUE(seen.wait([&](const ledger& l) {
      const auto found = l.lost.find({by, whom});
      return found != l.lost.end() && why.Matches(found->second);
    })) << "the last reason is: "
        << reason(by, whom);
  }

  /// Lets two nodes show different credentials, and node 0 send to node 1. Expects this reason why node 0 gives up.
  void expect_lost_with(credentials sender, credentials receiver, const testing::Matcher<std::string>& why) {
    auto mine = setup(0), theirs = setup(1);
    mine.shows = std::move(sender);
    mine.patience = std::chrono::milliseconds(300);
    theirs.shows = std::move(receiver);
    add(mine);
    add(theirs);
    meet();
    send(0, 0, 4, 1);
    expect_lost(0, 1, why);
    seen.note([](const ledger& l) { EXPECT_EQ(l.frames, 0u); });
  }

  void exchange_while_connections_break() {
    constexpr std::uint32_t count = 3;
    constexpr rank ranks = count * ranks_a_node;
    const std::uint64_t each = gossamer::test::tries(150);
    start(count);
    std::vector<std::jthread> senders;
    for (rank from = 0; from < ranks; ++from)
      senders.emplace_back([this, from, each] {
        random_sequence random{{5, from, purpose::synthetic}, 0};
        std::vector<std::unique_ptr<link>> links;
        for (rank to = 0; to < ranks; ++to)
          links.push_back(planes[from / ranks_a_node]->link_to(from, {to, 0}));
        for (std::uint64_t number = 1; number <= each; ++number)
          for (auto& l : links)
            l->send(test::numbered_frame(pool, from, number, random.below(random.below(100) == 0 ? 600'000 : 3000)));
      });
    const std::uint64_t all = ranks * ranks * each;
    for (std::uint64_t part = 1; part <= 20; ++part) {
      EXPECT_TRUE(seen.wait([&](const ledger& l) { return l.frames >= all * part / 24; }));
      planes[part % count]->break_connections();
    }
    EXPECT_TRUE(seen.wait([&](const ledger& l) { return l.frames == all; }));
    senders.clear();
    planes.clear();
    seen.note([&](const ledger& l) {
      EXPECT_EQ(l.frames, all);
      EXPECT_EQ(l.wrong, 0u);
      EXPECT_TRUE(l.lost.empty());
    });
  }

  void exchange_among_strangers() {
    start(2);
    std::vector<test::raw_connection> silent, noisy;
    random_sequence random{{6, 0, purpose::synthetic}, 0};
    for (std::uint64_t number = 1; number <= 200; ++number) {
      if (number % 4 == 0)
        silent.emplace_back(planes[1]->listens_on().port);
      noisy.emplace_back(planes[1]->listens_on().port);
      std::vector<std::byte> noise(random.below(300));
      for (auto& b : noise)
        b = static_cast<std::byte>(random.below(256));
      noisy.back().send(noise);
      send(0, 0, 4, number);
      send(1, 4, 0, number);
    }
    EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 400; }));
    for (auto& s : silent)
      EXPECT_EQ(s.receive_until_closed().size(), 0u) << "strangers are told nothing";
  }

  /// Returns the last reason why a node has given up another one.
  std::string reason(std::uint32_t by, std::uint32_t whom) {
    std::string result;
    seen.note([&](ledger& l) { result = l.lost[{by, whom}]; });
    return result;
  }

  credentials shows;        ///< credentials of all nodes that are set up
  bool share_memory = true; ///< setting of all nodes that are set up
  buffer_pool pool;
  ledger seen;
  nodes addresses;
  std::vector<std::unique_ptr<data_plane>> planes;
};

} // namespace gossamer::actors::test
