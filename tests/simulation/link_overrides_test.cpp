#include "gossamer/actors/simulation/network.hpp"

#include <gmock/gmock.h>

#include "expect.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::refusal;

std::shared_ptr<const network> changed(std::string_view links, std::size_t nodes = 4) {
  return make_network("uniform:latency=0.001,bandwidth=1e9,jitter=0", nodes, parse_link_overrides(links));
}

constexpr link_quality unchanged{0.001, 1e9, 0};

TEST(link_overrides, change_both_directions_or_one) {
  const auto both = changed("0-3:bandwidth=1e6");
  EXPECT_EQ(both->link(0, 3), (link_quality{0.001, 1e6, 0}));
  EXPECT_EQ(both->link(3, 0), (link_quality{0.001, 1e6, 0}));
  EXPECT_EQ(both->link(0, 1), unchanged);
  const auto one = changed("0-to-3:latency=0.5,jitter=0.1");
  EXPECT_EQ(one->link(0, 3), (link_quality{0.5, 1e9, 0.1}));
  EXPECT_EQ(one->link(3, 0), unchanged);
}

TEST(link_overrides, change_all_links_of_a_node) {
  const auto upload = changed("2-to-all:bandwidth=1e6"), download = changed("all-to-2:bandwidth=1e6"),
             both = changed("2-all:bandwidth=1e6"), same = changed("all-2:bandwidth=1e6");
  for (rank i : {0u, 1u, 3u}) {
    EXPECT_EQ(upload->link(2, i).bits_per_second, 1e6);
    EXPECT_EQ(upload->link(i, 2), unchanged);
    EXPECT_EQ(download->link(2, i), unchanged);
    EXPECT_EQ(download->link(i, 2).bits_per_second, 1e6);
    for (const auto& net : {both, same}) {
      EXPECT_EQ(net->link(2, i).bits_per_second, 1e6);
      EXPECT_EQ(net->link(i, 2).bits_per_second, 1e6);
    }
  }
  EXPECT_EQ(both->link(0, 3), unchanged);
}

TEST(link_overrides, let_the_last_one_count_for_each_value) {
  const auto net = changed("0-all:bandwidth=1e6,latency=0.1;0-to-3:bandwidth=2e6;0-to-3:jitter=0.5");
  EXPECT_EQ(net->link(0, 3), (link_quality{0.1, 2e6, 0.5}));
  EXPECT_EQ(net->link(3, 0), (link_quality{0.1, 1e6, 0}));
}

TEST(bandwidth_factor, makes_links_and_cards_faster_but_no_nearer) {
  const auto net = with_bandwidth_times(2, changed("0-to-3:bandwidth=4e9,jitter=0.1"));
  EXPECT_EQ(net->link(0, 1), (link_quality{0.001, 2e9, 0}));
  EXPECT_EQ(net->link(0, 3), (link_quality{0.001, 8e9, 0.1}));
  EXPECT_EQ(net->card(0), (card_rates{8e9, 2e9}));
}

TEST(link_overrides, make_a_card_as_fast_as_its_fastest_link) {
  EXPECT_EQ(changed("0-3:bandwidth=1e6")->card(0), (card_rates{1e9, 1e9}));
  EXPECT_EQ(changed("0-to-3:bandwidth=4e9")->card(0), (card_rates{4e9, 1e9}));
  EXPECT_EQ(changed("0-to-3:bandwidth=4e9")->card(3), (card_rates{1e9, 4e9}));
  EXPECT_EQ(changed("0-to-3:bandwidth=4e9")->card(1), (card_rates{1e9, 1e9}));
  const auto home = changed("0-to-all:bandwidth=1e6;all-to-0:bandwidth=8e6;0-1:latency=0.1");
  EXPECT_EQ(home->card(0), (card_rates{1e6, 8e6}));
  EXPECT_EQ(home->card(1), (card_rates{1e9, 1e9}));
}

TEST(link_overrides, say_what_is_wrong) {
  const auto message = [](std::string_view text) { return refusal([&] { changed(text); }); };
  EXPECT_THAT(message("0-9:latency=1"), HasSubstr("ends at node 9, which does not exist; with 4 nodes the numbers are "
                                                  "0 to 3"));
  EXPECT_THAT(message("0-0:latency=1"), HasSubstr("link '0-0' joins a node to itself"));
  EXPECT_THAT(message("all-all:latency=1"), HasSubstr("choose a network with other links"));
  EXPECT_THAT(message("0-3"), HasSubstr("nothing about it is changed; write 0-3:latency="));
  EXPECT_THAT(message("0-x:latency=1"), HasSubstr("an end of link '0-x' is 'x', which is not a whole number"));
  EXPECT_THAT(message("0-1-2:latency=1"), HasSubstr("'1-2'"));
  EXPECT_THAT(message("0--1:latency=1"), HasSubstr("-1"));
  EXPECT_THAT(message("0-99999999999:latency=1"), HasSubstr("out of range"));
  EXPECT_THAT(message("03:latency=1"), HasSubstr("'03' does not name a link; write 0-3 for both directions"));
  EXPECT_THAT(message("0>3:latency=1"), HasSubstr("0>3"));
  EXPECT_THAT(message("0-3:bandwidth=0"), HasSubstr("bandwidth of link '0-3' is 0, which is out of range; allowed: "
                                                    "at least 1 bits per second"));
  EXPECT_THAT(message("0-3:bandwith=1e6"), HasSubstr("did you mean 'bandwidth'?"));
  EXPECT_THAT(message("0-3:latency="), HasSubstr("not a time"));
  EXPECT_THAT(message("0-3:latency=1;"), HasSubstr("''"));
  EXPECT_THAT(message(""), HasSubstr("''"));
}

} // namespace
} // namespace gossamer::actors
