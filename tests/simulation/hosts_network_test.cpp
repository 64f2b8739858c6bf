#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/topology/launch_keys.hpp"

#include <gmock/gmock.h>

#include "expect.hpp"
#include "measured_file.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::link_text, testing_support::measured_file, testing_support::refusal;

const std::string two_hosts = "[[host]]\nhost = 'a'\nslots = 2\nseconds_per_sample = 1e-5\n[[host]]\nhost = 'b'\n";

TEST(hosts_network, has_the_links_and_times_of_the_file) {
  const measured_file file{two_hosts + "user = 'of ssh'\n" + link_text("a", "b", "0.01", "1e6")
                           + link_text("b", "a", "0.02", "2e6")};
  const auto net = make_network(file.spec(), 7);
  EXPECT_EQ(net->link(0, 1), (link_quality{0.01, 1e6}));
  EXPECT_EQ(net->link(1, 0), (link_quality{0.02, 2e6}));
  EXPECT_EQ(net->card(0), (card_rates{1e6, 2e6}));
  ASSERT_NE(net->hosts(), nullptr);
  EXPECT_EQ(net->hosts()->slots(), 3);
  EXPECT_EQ(net->hosts()->hosts[0].seconds_per_sample, 1e-5);
  EXPECT_EQ(net->hosts()->hosts[1].seconds_per_sample, std::nullopt);
}

TEST(hosts_network, lets_single_links_be_changed_by_the_numbers_of_hosts) {
  const measured_file file{two_hosts + link_text("a", "b", "0.01", "1e6") + link_text("b", "a", "0.02", "2e6")};
  const auto net = make_network(file.spec(), 7, parse_link_overrides("0-to-1:bandwidth=5"));
  EXPECT_EQ(net->link(0, 1), (link_quality{0.01, 5}));
  EXPECT_NE(net->hosts(), nullptr);
  EXPECT_THAT(refusal([&] { make_network(file.spec(), 7, parse_link_overrides("0-2:bandwidth=5")); }),
              HasSubstr("with 2 nodes"));
}

TEST(hosts_network, refuses_with_file_and_key_what_no_host_or_link_can_be) {
  const auto there = link_text("a", "b", "0", "1"), back = link_text("b", "a", "0", "1");
  const auto expect = [&](const std::string& text, const std::string& first, const std::string& second) {
    const measured_file file{two_hosts + text};
    EXPECT_THAT(refusal([&] { make_network(file.spec(), 2); }), AllOf(HasSubstr(first), HasSubstr(second))) << text;
  };
  expect(there, ".toml: no [[link]] leads from 'b' to 'a'", "gossamer measure writes one");
  expect(there + back + there, ".toml:17: a second link leads from 'a' to 'b'", "leave one");
  expect(link_text("a", "beta", "0", "1"), ".toml:7: to: unknown host 'beta'", "known: a, b");
  expect(link_text("a", "a", "0", "1"), "'a' is linked to itself", "leave the link out");
  expect(link_text("a", "b", "-1", "1"), ".toml:10: latency is -1", "allowed: 0 to");
  expect(link_text("a", "b", "0", "-1"), ".toml:11: bandwidth is -1", "allowed: at least 1");
  expect("[[link]]\nfrom = 'a'\nto = 'b'\nlatency = 0\n", ".toml:7: the link has no bandwidth", "bits per second");
  expect("[[host]]\nhost = 'a'\n", ".toml:7: there is a second host 'a'", "a name of its own");
  expect("[[host]]\nhost = 'c'\nslots = 0\n", ".toml:9: ", "slots");
  expect("slot = 4\n", ".toml:7: unknown key 'slot'", "did you mean 'slots'?");
  expect("second_per_sample = 0.5\n", ".toml:7: unknown key 'second_per_sample'", "did you mean 'seconds_per_sample'?");
  expect("through = 'x'\nuser = 'y'\n", "both through and user are given", "leave one");
  expect("[[machine]]\n", "unexpected 'machine'", "[[host]], [[link]]");
}

TEST(hosts_network, passes_over_what_matters_to_launches_alone) {
  const std::string links = link_text("a", "b", "0.01", "1e6") + link_text("b", "a", "0.02", "2e6");
  for (const auto& key : topology::launch_keys()) {
    const measured_file file{two_hosts + key.name + (key.repeatable() ? " = ['A=1', 'B=x y']\n" : " = '7'\n") + links};
    EXPECT_NO_THROW(make_network(file.spec(), 7)) << key.name;
  }
}

TEST(hosts_network, needs_a_host) {
  const measured_file file{"# nothing\n"};
  EXPECT_THAT(refusal([&] { make_network(file.spec(), 2); }), HasSubstr("names no hosts"));
  EXPECT_THAT(refusal([] { make_network("hosts:file=no/such/file", 2); }, errc::io), HasSubstr("no/such/file"));
}

} // namespace
} // namespace gossamer::actors
