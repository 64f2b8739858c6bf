#include "gossamer/actors/simulation/network.hpp"

#include <gmock/gmock.h>

#include <set>

#include "expect.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::refusal;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns the networks that need no file.
std::vector<std::string> names() {
  auto all = networks().names();
  std::erase(all, "matrix");
  std::erase(all, "hosts");
  return all;
}

TEST(networks, describe_themselves) {
  for (const auto& entry : networks()) {
    EXPECT_FALSE(entry.about.summary.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.maths.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.cost.empty()) << entry.about.name;
  }
}

TEST(networks, have_no_link_that_is_faster_than_its_cards) {
  for (const auto& name : names())
    for (std::size_t nodes : {1u, 2u, 3u, 31u, 33u}) {
      const auto net = make_network(name, nodes);
      for (rank i = 0; i < nodes; ++i)
        for (rank j = 0; j < nodes; ++j) {
          if (i == j)
            continue;
          const auto link = net->link(i, j);
          EXPECT_GE(link.latency_s, 0) << name;
          EXPECT_GE(link.jitter_s, 0) << name;
          EXPECT_GT(link.bits_per_second, 0) << name;
          EXPECT_LE(link.bits_per_second, std::min(net->card(i).send, net->card(j).receive)) << name;
          EXPECT_EQ(link, net->link(j, i)) << name;
        }
    }
}

TEST(networks, are_those_of_the_papers) {
  const auto link = [](std::string_view text) { return make_network(text, 8)->link(3, 5); };
  EXPECT_EQ(link("ideal"), (link_quality{0, infinite, 0}));
  EXPECT_EQ(link("tang-best"), (link_quality{0.13e-3, 1.4e9, 0}));
  EXPECT_EQ(link("tang-latency"), (link_quality{20e-3, 1.4e9, 0}));
  EXPECT_EQ(link("tang-bandwidth"), (link_quality{0.13e-3, 5e6, 0}));
  EXPECT_EQ(link("tang-both"), (link_quality{20e-3, 5e6, 0}));
  EXPECT_EQ(link("datacentre"), (link_quality{25e-6, 25e9, 0}));
}

TEST(networks, take_parameters_in_place_of_their_presets) {
  const auto link = [](std::string_view text) { return make_network(text, 2)->link(0, 1); };
  EXPECT_EQ(link("uniform:latency=0.5,bandwidth=1e6,jitter=0.1"), (link_quality{0.5, 1e6, 0.1}));
  EXPECT_EQ(link("tang-best:latency=0.02"), link("tang-latency"));
  EXPECT_EQ(link("uniform:bandwidth=inf").bits_per_second, infinite);
}

TEST(networks, have_at_least_one_node_and_not_too_many) {
  EXPECT_EQ(make_network("ideal", 1)->card(0).send, infinite);
  EXPECT_NE(make_network("wan", max_nodes)->link(0, max_nodes - 1), link_quality{});
  for (std::size_t nodes : {std::size_t{0}, max_nodes + 1})
    EXPECT_THAT(refusal([&] { make_network("wan", nodes); }), HasSubstr("allowed: 1 to 1001024"));
}

TEST(networks, refuse_what_no_link_can_be) {
  EXPECT_THAT(refusal([] { make_network("tang-bst", 2); }), HasSubstr("did you mean 'tang-best'?"));
  EXPECT_THAT(refusal([] { make_network("uniform:latency=-1", 2); }), HasSubstr("allowed: 0 to 3600 seconds"));
  EXPECT_THAT(refusal([] { make_network("uniform:latency=inf", 2); }), HasSubstr("allowed: 0 to 3600 seconds"));
  EXPECT_THAT(refusal([] { make_network("uniform:bandwidth=0", 2); }),
              HasSubstr("allowed: at least 1 bits per second"));
  EXPECT_THAT(refusal([] { make_network("uniform:bandwidth=1Gbit", 2); }), HasSubstr("not a rate"));
  EXPECT_THAT(refusal([] { make_network("uniform:bandwith=1", 2); }), HasSubstr("did you mean 'bandwidth'?"));
  EXPECT_THAT(refusal([] { make_network("ideal:latency=1", 2); }), HasSubstr("it has none"));
  EXPECT_THAT(refusal([] { make_network("wan:placement=row", 2); }), HasSubstr("one of blocks, turns"));
}

TEST(wan, puts_neighbouring_numbers_into_one_region) {
  const auto net = make_network("wan", 16);
  EXPECT_EQ(net->link(0, 3).latency_s, 1e-3);
  EXPECT_EQ(net->link(12, 15).latency_s, 1e-3);
  EXPECT_EQ(net->link(0, 4).latency_s, 45e-3);
  EXPECT_EQ(net->link(4, 15).latency_s, 110e-3);
  EXPECT_EQ(net->link(0, 15).latency_s, 80e-3);
}

TEST(wan, lets_neighbouring_numbers_take_turns) {
  const auto net = make_network("wan:placement=turns", 16);
  EXPECT_EQ(net->link(0, 4).latency_s, 1e-3);
  EXPECT_EQ(net->link(0, 1).latency_s, 45e-3);
  EXPECT_EQ(net->link(5, 7).latency_s, 110e-3);
}

TEST(wan, has_every_kind_of_line_in_every_region) {
  for (const char* placement : {"blocks", "turns"}) {
    const auto net = make_network(std::string{"wan:placement="} + placement, 32);
    std::multiset<double> rates;
    for (rank i = 0; i < 32; ++i)
      rates.insert(net->card(i).send);
    for (double rate : {1e9, 500e6, 250e6, 100e6})
      EXPECT_EQ(rates.count(rate), 8u) << placement;
    const auto first = [&](rank i) { return placement[0] == 'b' ? i : 4 * i; }; // the members of region 0
    EXPECT_EQ(net->link(first(0), first(1)).bits_per_second, 500e6);
    EXPECT_EQ(net->link(first(3), first(1)).bits_per_second, 100e6);
  }
}

TEST(wan, scatters_latencies_in_proportion) {
  EXPECT_DOUBLE_EQ(make_network("wan", 4)->link(1, 3).jitter_s, 0.05 * 0.11);
  EXPECT_EQ(make_network("wan:jitter_share=0", 4)->link(1, 3).jitter_s, 0);
}

} // namespace
} // namespace gossamer::actors
