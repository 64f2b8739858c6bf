#include "gossamer/actors/simulation/network_model.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "expect.hpp"

namespace gossamer::actors {
namespace {

using testing::Each;
using testing::ElementsAre;
using namespace std::chrono_literals;

// 1 Gb/s: a bit takes a nanosecond, a frame of 1000 bytes 8 microseconds.
constexpr auto gigabit = "uniform:latency=1e-3,bandwidth=1e9";
constexpr std::size_t bytes = 1000;
constexpr auto transmission = 8us;

network_model model(std::string_view text, std::size_t nodes, std::string_view links = {}) {
  const auto changed = links.empty() ? std::vector<link_override>{} : parse_link_overrides(links);
  return {make_network(text, nodes, changed), nodes, 7};
}

struct message {
  virtual_time at;
  rank from, to;
  std::size_t size = bytes;
};

/// Sends all messages in the order of their times, receives them in the order of arrival, and returns when each is in.
std::vector<virtual_time> deliver(network_model& net, const std::vector<message>& messages) {
  std::vector<std::pair<virtual_time, std::size_t>> arrivals;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& m = messages[i];
    arrivals.emplace_back(net.send(m.at, m.from, m.to, m.size, i).arrives, i);
  }
  std::ranges::sort(arrivals);
  std::vector<virtual_time> in(messages.size());
  for (const auto& [arrival, i] : arrivals)
    in[i] = net.receive(arrival, messages[i].to, messages[i].from, messages[i].size);
  return in;
}

TEST(network_model, pays_latency_and_transmission_once) {
  for (std::size_t size : {0u, 1u, 31u, 1000u, 1'000'000u}) {
    auto net = model(gigabit, 2);
    const auto [sent, arrives] = net.send(5ms, 0, 1, size, 0);
    const virtual_time takes{8 * size};
    EXPECT_EQ(sent, 5ms + takes);
    EXPECT_EQ(arrives, 6ms);
    EXPECT_EQ(net.receive(arrives, 1, 0, size), 6ms + takes);
  }
}

TEST(network_model, lets_islands_share_the_line_between_them) {
  auto net = model("islands:count=2,latency=1e-3,bandwidth=1e9", 5);
  const auto in = deliver(net, {{0ms, 0, 2}, {0ms, 1, 3}, {0ms, 3, 1}, {0ms, 2, 4}});
  EXPECT_EQ(in[0], 1ms + transmission);
  EXPECT_EQ(in[1], 1ms + 2 * transmission) << "behind the other frame in this direction";
  EXPECT_EQ(in[2], 1ms + transmission) << "alone in its direction";
  EXPECT_LT(in[3], 26us) << "within an island";
}

TEST(network_model, is_exact_for_the_links_of_every_preset) {
  struct preset {
    const char* name;
    virtual_time latency;
    double bits_per_second;
  };
  for (const auto& p :
       {preset{"tang-best", 130us, 1.4e9}, preset{"tang-latency", 20ms, 1.4e9}, preset{"tang-bandwidth", 130us, 5e6},
        preset{"tang-both", 20ms, 5e6}, preset{"datacentre", 25us, 25e9}}) {
    auto net = model(p.name, 2);
    const std::size_t size = 7'000'000;
    const auto arrives = net.send(0s, 0, 1, size, 0).arrives;
    EXPECT_EQ(arrives, p.latency) << p.name;
    EXPECT_EQ(net.receive(arrives, 1, 0, size), p.latency + from_seconds(8.0 * size / p.bits_per_second)) << p.name;
  }
}

TEST(network_model, takes_no_time_without_latency_and_with_infinite_bandwidth) {
  auto net = model("ideal", 3);
  EXPECT_THAT(deliver(net, {{1s, 0, 1}, {1s, 0, 1}, {1s, 2, 1}, {2s, 1, 0, 1'000'000'000}}),
              ElementsAre(1s, 1s, 1s, 2s));
}

TEST(network_model, takes_no_time_within_a_node) {
  auto net = model(gigabit, 2);
  net.send(0s, 0, 1, 1'000'000, 0);
  const auto [sent, arrives] = net.send(0s, 0, 0, 1'000'000, 1);
  EXPECT_EQ(sent, 0s);
  EXPECT_EQ(net.receive(arrives, 0, 0, 1'000'000), 0s);
}

TEST(network_model, sends_one_frame_after_the_other) {
  auto net = model(gigabit, 3);
  EXPECT_EQ(net.send(0s, 0, 1, bytes, 0).sent, transmission);
  const auto second = net.send(0s, 0, 2, bytes, 1);
  EXPECT_EQ(second.sent, 2 * transmission);
  EXPECT_EQ(second.arrives, 1ms + transmission);
  EXPECT_EQ(net.receive(second.arrives, 2, 0, bytes), 1ms + 2 * transmission);
  EXPECT_EQ(net.send(1s, 0, 1, bytes, 2).arrives, 1s + 1ms); // the card has rested
}

TEST(network_model, sends_and_receives_at_the_same_time) {
  auto net = model(gigabit, 2);
  EXPECT_THAT(deliver(net, {{0s, 0, 1}, {0s, 1, 0}}), Each(1ms + transmission));
}

// In a parameter server, each of n workers sends S bits, and the server answers every one.
TEST(network_model, makes_a_server_the_bottleneck) {
  for (rank n : {1u, 2u, 7u, 32u}) {
    auto net = model(gigabit, n + 1);
    std::vector<message> up, down;
    for (rank i = 0; i < n; ++i)
      up.push_back({0s, i, n});
    const auto gathered = std::ranges::max(deliver(net, up));
    EXPECT_EQ(gathered, 1ms + n * transmission);
    for (rank i = 0; i < n; ++i)
      down.push_back({gathered, n, i});
    EXPECT_EQ(std::ranges::max(deliver(net, down)), gathered + 1ms + n * transmission);
  }
}

// Slow lines fill a fast card together: no line waits for another until the card is full.
TEST(network_model, lets_slow_links_share_a_fast_card) {
  for (const auto& [workers, expected] : {std::pair{10u, 1ms + 10 * transmission}, {20u, 1ms + 20 * transmission}}) {
    std::string links;
    for (rank i = 1; i <= workers; ++i)
      links += (i > 1 ? ";0-" : "0-") + std::to_string(i) + ":bandwidth=1e8"; // a tenth of the card
    auto net = model(gigabit, workers + 2, links);
    std::vector<message> up;
    for (rank i = 1; i <= workers; ++i)
      up.push_back({0s, i, 0});
    EXPECT_EQ(std::ranges::max(deliver(net, up)), expected) << workers;
  }
}

TEST(network_model, keeps_a_slow_link_from_blocking_the_card) {
  auto net = model(gigabit, 3, "0-1:bandwidth=1e6");
  const auto in = deliver(net, {{0s, 0, 1}, {0s, 0, 2}});
  EXPECT_EQ(in[0], 1ms + 8ms);
  EXPECT_EQ(in[1], 1ms + 2 * transmission);
  EXPECT_EQ(net.send(0s, 0, 1, bytes, 2).arrives, 1ms + 8ms); // behind the first on the slow link
}

// A line at home is ten times slower up than down.
TEST(network_model, has_cards_that_may_receive_faster_than_they_send) {
  auto net = model(gigabit, 4, "0-to-all:bandwidth=1e6;all-to-0:bandwidth=1e7");
  const auto up = deliver(net, {{0s, 0, 1}, {0s, 0, 2}, {0s, 0, 3}});
  EXPECT_THAT(up, ElementsAre(1ms + 8ms, 1ms + 16ms, 1ms + 24ms));
  const auto down = deliver(net, {{1s, 1, 0}, {1s, 2, 0}, {1s, 3, 0}});
  EXPECT_EQ(std::ranges::max(down), 1s + 1ms + 2400us);
}

TEST(network_model, ends_with_time_itself) {
  auto net = model("uniform:bandwidth=1", 2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto arrives = net.send(end_of_time - 1s, 0, 1, std::size_t{1} << 40, i).arrives;
    EXPECT_EQ(net.receive(arrives, 1, 0, std::size_t{1} << 40), end_of_time);
  }
}

TEST(network_model, insists_on_the_order_of_arrival) {
  auto net = model(gigabit, 2);
  net.receive(2ms, 1, 0, bytes);
  EXPECT_DEATH(net.receive(1ms, 1, 0, bytes), "in the order of their arrival");
}

// The closed forms of Tang et al.'s figures hold for n nodes in a ring and a model of S bits. All times are whole
// nanoseconds.

/// Ring all-reduce: 2(n-1) rounds of S/n bits. A node sends the next segment when it has received the last one.
virtual_time ring_all_reduce(network_model& net, rank n, std::size_t segment) {
  std::vector<virtual_time> ready(n);
  for (rank round = 0; round < 2 * (n - 1); ++round) {
    std::vector<message> messages;
    for (rank i = 0; i < n; ++i)
      messages.push_back({ready[i], i, (i + 1) % n, segment});
    const auto in = deliver(net, messages);
    for (rank i = 0; i < n; ++i)
      ready[(i + 1) % n] = in[i];
  }
  return std::ranges::max(ready);
}

virtual_time ring_gossip(network_model& net, rank n, std::size_t size) {
  std::vector<message> messages;
  for (rank i = 0; i < n; ++i)
    for (rank j : {(i + 1) % n, (i + n - 1) % n})
      messages.push_back({0s, i, j, size});
  return std::ranges::max(deliver(net, messages));
}

TEST(network_model, equals_the_closed_forms_of_all_reduce_and_gossip) {
  for (const char* network : {"tang-best", "tang-latency", "tang-bandwidth", "tang-both"})
    for (rank n : {3u, 4u, 8u, 16u}) {
      const auto link = make_network(network, n)->link(0, 1);
      const std::size_t segment = 70'000, size = n * segment; // both bandwidths send it in whole microseconds
      const auto seconds = [&](std::size_t s) {
        return from_seconds(8.0 * static_cast<double>(s) / link.bits_per_second);
      };
      const auto latency = from_seconds(link.latency_s);
      auto reducing = model(network, n), gossiping = model(network, n);
      EXPECT_EQ(ring_all_reduce(reducing, n, segment), 2 * (n - 1) * (latency + seconds(segment))) << network << n;
      EXPECT_EQ(ring_gossip(gossiping, n, size), latency + 2 * seconds(size)) << network << n;
    }
}

TEST(network_model, draws_jitter_from_an_exponential_distribution) {
  auto net = model("uniform:latency=1e-3,bandwidth=inf,jitter=1e-3", 2);
  const auto draw = [&](std::uint64_t i) {
    const virtual_time now = i * 1s;
    return to_seconds(net.send(now, 0, 1, bytes, i).arrives - now) * 1e3; // in latencies
  };
  testing_support::expect_moments(draw, 2, 1, 9);
}

TEST(network_model, draws_jitter_by_seed_link_and_number_alone) {
  const auto net = make_network("uniform:latency=0,jitter=1e-3", 300);
  const auto arrival = [&](std::uint64_t seed, rank from, rank to, std::uint64_t number) {
    return network_model{net, 300, seed}.send(0s, from, to, 0, number).arrives;
  };
  EXPECT_EQ(arrival(1, 0, 1, 5), arrival(1, 0, 1, 5));
  EXPECT_NE(arrival(1, 0, 1, 5), arrival(2, 0, 1, 5));
  EXPECT_NE(arrival(1, 0, 1, 5), arrival(1, 1, 0, 5));
  EXPECT_NE(arrival(1, 0, 1, 5), arrival(1, 0, 2, 5));
  EXPECT_NE(arrival(1, 0, 256, 5), arrival(1, 1, 0, 5));
  EXPECT_NE(arrival(1, 0, 1, 5), arrival(1, 0, 1, 6));
}

TEST(network_model, keeps_the_order_of_a_link_under_jitter) {
  // The jitter is that of 100 transmissions: without the rule most neighbours would overtake each other.
  auto net = model("uniform:latency=1e-3,bandwidth=1e9,jitter=8e-4", 4);
  std::vector<message> messages;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    messages.push_back({i * 1us, i % 3, i % 2 == 0 ? 3 : (i + 1) % 3, 1 + i * 37 % 2000});
  const auto in = deliver(net, messages);
  std::map<std::pair<rank, rank>, virtual_time> last;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    auto& before = last[{messages[i].from, messages[i].to}];
    EXPECT_GT(in[i], before) << i;
    before = in[i];
  }
}

TEST(network_model, repeats_itself_and_never_beats_an_empty_network) {
  const auto run = [](std::vector<message>& messages) {
    auto net = model("wan:placement=turns", 64);
    random_sequence r{random_stream{5, 0, purpose::synthetic}, 0};
    for (std::uint32_t i = 0; i < 5000; ++i)
      messages.push_back({i * 100us, r.below(64), r.below(64), r.below(100'000)});
    return deliver(net, messages);
  };
  std::vector<message> messages, again;
  const auto in = run(messages);
  EXPECT_EQ(in, run(again));
  const auto net = make_network("wan:placement=turns", 64);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto& m = messages[i];
    if (m.from == m.to)
      continue;
    const auto link = net->link(m.from, m.to);
    EXPECT_GE(in[i] - m.at,
              from_seconds(link.latency_s) + from_seconds(8.0 * static_cast<double>(m.size) / link.bits_per_second));
  }
}

// A card cannot exceed its rate: frames of n nodes to one node in a time T arrive no earlier than their bits allow.
TEST(network_model, never_exceeds_a_card) {
  auto net = model(gigabit, 9, "0-8:latency=0.5e-3;1-to-8:bandwidth=1e7");
  random_sequence r{random_stream{6, 0, purpose::synthetic}, 0};
  std::vector<message> messages;
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    messages.push_back({i * 1us, r.below(8), 8, r.below(2000)});
    total += messages.back().size;
  }
  EXPECT_GE(std::ranges::max(deliver(net, messages)), 500us + virtual_time{8 * total});
}

} // namespace
} // namespace gossamer::actors
