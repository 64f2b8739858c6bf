// Several nodes in one process, over TLS on 127.0.0.1.
#include <netdb.h>

#include "data_plane/certificates.hpp"
#include "data_plane/live_planes.hpp"

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using test::ledger;
using testing::HasSubstr;

class tls_test : public test::data_plane_test {
protected:
  tls_test() { share_memory = false; }

  /// Sends a frame from node 0 to node 1, and expects it to arrive.
  void expect_a_frame_between(const data_plane_setup& mine, const data_plane_setup& theirs) {
    add(mine);
    add(theirs);
    meet();
    attach(1, 4);
    send(0, 0, 4, 1);
    EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 1; }));
  }

  test::certificates ours, others;
};

TEST_F(tls_test, carries_every_frame_once_and_in_order_while_connections_break) {
  shows.identity = ours.identity();
  exchange_while_connections_break();
}

TEST_F(tls_test, gives_way_to_memory_once_both_have_shown_who_they_are) {
  share_memory = true;
  shows.identity = ours.identity();
  exchange_while_connections_break();
}

TEST_F(tls_test, is_not_disturbed_by_strangers) {
  shows.identity = ours.identity();
  exchange_among_strangers();
}

TEST_F(tls_test, tells_nothing_to_who_knows_the_run_and_has_no_certificate) {
  shows.identity = ours.identity();
  start(2);
  test::raw_connection stranger{planes[0]->listens_on().port};
  stranger.send(write(hello{.run = test::run, .fingerprint = 7, .node = 1, .meant_node = 0}));
  EXPECT_EQ(stranger.receive_until_closed().size(), 0u);
}

TEST_F(tls_test, carries_frames_that_fill_no_record_and_frames_that_fill_many) {
  shows.identity = ours.identity();
  start(2);
  std::uint64_t number = 0;
  for (const std::size_t bytes :
       std::initializer_list<std::size_t>{0, 1, 16'000, 16'383, 16'384, 16'385, 65'536, 262'144, 262'145, 3'000'000})
    send(0, 0, 4, ++number, bytes);
  EXPECT_TRUE(seen.wait([&](const ledger& l) { return l.frames == number; }));
  seen.note([](const ledger& l) { EXPECT_EQ(l.wrong, 0u); });
}

TEST_F(tls_test, changes_keys_on_the_way) {
  shows.identity = ours.identity();
  start(2);
  constexpr std::uint64_t count = 180; // frames of 3 MB: the key changes after 256 MiB
  for (std::uint64_t number = 1; number <= count; ++number) {
    send(0, 0, 4, number, 3'000'000);
    ASSERT_TRUE(seen.wait([&](const ledger& l) { return l.frames + 8 >= number; }));
  }
  EXPECT_TRUE(seen.wait([&](const ledger& l) { return l.frames == count; }));
  seen.note([](const ledger& l) { EXPECT_EQ(l.wrong, 0u); });
}

TEST_F(tls_test, gives_up_a_node_of_another_authority) {
  expect_lost_with({.identity = ours.identity()}, {.identity = others.identity()},
                   HasSubstr("it shows a certificate that is not of this authority"));
}

TEST_F(tls_test, hears_that_its_certificate_is_not_of_the_authority) {
  expect_lost_with({.identity = ours.believer(others)}, {.identity = ours.identity()},
                   HasSubstr("it says that this node's certificate is not of its authority"));
}

TEST_F(tls_test, gives_up_a_node_whose_certificate_has_expired) {
  expect_lost_with({.identity = ours.identity()}, {.identity = ours.identity("127.0.0.1", test::expired)},
                   HasSubstr("it shows a certificate that has expired"));
}

TEST_F(tls_test, hears_that_its_certificate_has_expired) {
  expect_lost_with({.identity = ours.identity("127.0.0.1", test::expired)}, {.identity = ours.identity()},
                   HasSubstr("it says that this node's certificate has expired"));
}

TEST_F(tls_test, gives_up_a_node_whose_certificate_is_not_valid_yet) {
  expect_lost_with({.identity = ours.identity()}, {.identity = ours.identity("127.0.0.1", {.from = 24h, .until = 48h})},
                   HasSubstr("it shows a certificate that is not valid yet: compare the clocks"));
}

TEST_F(tls_test, gives_up_a_node_that_is_not_the_host_it_was_looked_for_at) {
  expect_lost_with({.identity = ours.identity()}, {.identity = ours.identity("192.0.2.7")},
                   HasSubstr("it shows a certificate that is for another host"));
}

TEST_F(tls_test, lets_in_whoever_is_of_the_authority_from_anywhere) {
  auto mine = setup(0), theirs = setup(1);
  mine.shows.identity = ours.identity("192.0.2.7");
  theirs.shows.identity = ours.identity();
  expect_a_frame_between(mine, theirs);
}

TEST_F(tls_test, gives_up_a_node_without_certificates) {
  expect_lost_with({.identity = ours.identity()}, {}, HasSubstr("as a node without certificates does"));
}

TEST_F(tls_test, gives_up_a_node_that_asks_for_a_certificate_it_has_not) {
  expect_lost_with({}, {.identity = ours.identity()}, HasSubstr("closes connections without a word"));
}

/// True if the system knows the name of a host. A minimal system has no /etc/hosts.
bool is_known(const char* name) {
  addrinfo* found = nullptr;
  const bool known = getaddrinfo(name, nullptr, nullptr, &found) == 0;
  if (known)
    freeaddrinfo(found);
  return known;
}

TEST_F(tls_test, finds_a_node_by_its_name) {
  if (!is_known("localhost"))
    GTEST_SKIP() << "this system does not know the name localhost";
  shows.identity = ours.identity("localhost");
  auto mine = setup(0), theirs = setup(1);
  theirs.listen_on.host = "localhost";
  expect_a_frame_between(mine, theirs);
}

} // namespace
} // namespace gossamer::actors
