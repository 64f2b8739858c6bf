#include "gossamer/actors/telemetry/clock_alignment.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::Optional;
using process = clock_alignment::process;

/// Processes whose clocks show the true time less an offset.
struct world {
  std::vector<std::int64_t> lacks_ns;
  clock_alignment found = {};
  struct message {
    process from, to;
    std::int64_t sent_ns, took_ns;
  };
  std::vector<message> all = {};

  void send(process from, process to, std::int64_t at_ns, std::int64_t takes_ns) {
    all.push_back({from, to, at_ns, takes_ns});
    found.crossed(from, at_ns - lacks_ns[from], to, at_ns + takes_ns - lacks_ns[to]);
  }
  std::vector<std::int64_t> offsets() const {
    std::vector<std::int64_t> result;
    for (const auto& one : found.offsets(lacks_ns.size(), 0))
      result.push_back(one.value());
    return result;
  }
};

TEST(clocks, are_aligned_exactly_where_both_ways_take_as_long) {
  world w{.lacks_ns = {0, 5'000'000, -300}};
  w.send(0, 1, 10, 700);
  w.send(1, 0, 900, 700);
  w.send(1, 2, 1000, 40);
  w.send(2, 1, 1010, 40);
  EXPECT_THAT(w.offsets(), ElementsAre(0, 5'000'000, -300));
}

TEST(clocks, err_by_half_the_difference_of_both_ways) {
  world w{.lacks_ns = {0, 1000}};
  w.send(0, 1, 0, 100);
  w.send(1, 0, 0, 700);
  EXPECT_THAT(w.offsets(), ElementsAre(0, 1000 + (700 - 100) / 2));
}

TEST(clocks, are_aligned_around_a_ring_that_sends_one_way) {
  world w{.lacks_ns = {0, 100, 200, 300}};
  for (process p = 0; p < 4; ++p)
    w.send(p, (p + 1) % 4, 1000, 50);
  const auto found = w.offsets();
  for (process p = 0; p < 4; ++p)
    EXPECT_LE(std::abs(found[p] - w.lacks_ns[p]), 4 * 50 / 2);
}

TEST(clocks, are_unknown_of_processes_that_are_heard_in_one_direction_only) {
  clock_alignment found;
  found.crossed(0, 0, 1, 10);
  found.crossed(2, 0, 0, 10);
  EXPECT_THAT(found.offsets(4, 0), ElementsAre(Optional(0), std::nullopt, std::nullopt, std::nullopt));
}

/// Each message of any exchange comes after it was sent, and the error is bounded by the shortest round trip.
TEST(clocks, never_let_a_message_come_before_it_was_sent) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    random_sequence draws{random_stream{seed, 1, purpose::quantise}, 0};
    const auto below = [&](std::uint32_t limit) { return static_cast<std::int64_t>(draws.below(limit)); };
    world w{.lacks_ns = {0}};
    const auto processes = static_cast<process>(2 + below(5));
    for (process p = 1; p < processes; ++p)
      w.lacks_ns.push_back(below(2'000'000'000) - 1'000'000'000);
    for (process p = 0; p < processes; ++p) // a ring, so that all hear of each other
      w.send(p, (p + 1) % processes, below(1'000'000), 1 + below(100'000));
    for (int k = 0; k < 200; ++k) {
      const auto from = static_cast<process>(below(processes)), to = static_cast<process>(below(processes));
      if (from != to)
        w.send(from, to, below(1'000'000), 1 + below(100'000));
    }
    const auto found = w.offsets();
    for (const auto& m : w.all) {
      const auto sent = m.sent_ns - w.lacks_ns[m.from] + found[m.from];
      const auto received = m.sent_ns + m.took_ns - w.lacks_ns[m.to] + found[m.to];
      EXPECT_LE(sent, received + 1) << "a nanosecond is rounded";
    }
    for (process p = 0; p < processes; ++p)
      EXPECT_LE(std::abs(found[p] - w.lacks_ns[p]), 100'000 * (processes - 1));
  }
}

} // namespace
} // namespace gossamer::actors
