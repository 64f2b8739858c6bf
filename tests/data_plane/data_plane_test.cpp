// Several nodes in one process, over real sockets on 127.0.0.1.
#include "gossamer/actors/data_plane/record.hpp"
#include "gossamer/actors/frames/connections.hpp"

#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include "data_plane/live_planes.hpp"

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using test::data_plane_test, test::ledger, test::ranks_of, test::run;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(data_plane_test, carries_every_frame_once_and_in_order_while_connections_break) {
  exchange_while_connections_break();
}

TEST_F(data_plane_test, carries_every_frame_over_sockets_too) {
  share_memory = false;
  exchange_while_connections_break();
}

TEST_F(data_plane_test, is_not_disturbed_by_strangers) { exchange_among_strangers(); }

TEST_F(data_plane_test, tells_nothing_to_who_does_not_know_the_run) {
  start(2);
  test::raw_connection stranger{planes[0]->listens_on().port};
  stranger.send(write(hello{.run = run + 1, .fingerprint = 7, .node = 1, .meant_node = 0}));
  EXPECT_EQ(stranger.receive_until_closed().size(), 0u);
}

TEST_F(data_plane_test, gives_up_a_node_of_another_run) {
  auto mine = setup(0), theirs = setup(1);
  mine.patience = 300ms;
  theirs.run = run + 1;
  add(mine);
  add(theirs);
  meet();
  send(0, 0, 4, 1);
  expect_lost(0, 1, HasSubstr("as a node of another run does"));
}

TEST_F(data_plane_test, gives_up_a_node_with_another_fingerprint_and_both_say_why) {
  auto theirs = setup(1);
  theirs.fingerprint = 8;
  add(setup(0));
  add(theirs);
  meet();
  send(0, 0, 4, 1);
  const auto here = why_lost(0, 1), there = why_lost(1, 0);
  EXPECT_THAT(here, AllOf(HasSubstr("0000000000000007"), HasSubstr("0000000000000008")));
  EXPECT_EQ(here, there);
}

TEST_F(data_plane_test, gives_up_a_node_of_another_version_and_tells_it_why) {
  start(2);
  test::raw_connection other{planes[0]->listens_on().port};
  other.send(write(hello{.version = 9, .run = run, .fingerprint = 7, .node = 1, .meant_node = 0}));
  const auto said = other.receive_until_closed();
  ASSERT_GT(said.size(), hello_bytes + record_head_bytes);
  EXPECT_THAT(read_refusal(std::span{said}.subspan(hello_bytes + record_head_bytes))->sentence,
              HasSubstr("node 1 speaks version 9"));
  expect_lost(0, 1, HasSubstr("version 9"));
}

TEST_F(data_plane_test, gives_up_a_node_that_breaks_the_rules_and_goes_on_with_others) {
  start(3);
  test::raw_connection rogue{planes[0]->listens_on().port};
  rogue.send(write(hello{.run = run, .fingerprint = 7, .node = 1, .meant_node = 0}));
  rogue.send(std::vector(100, std::byte{0xff}));
  expect_lost(0, 1, HasSubstr("breaks the rules: a record is of the unknown kind 255"));
  rogue.receive_until_closed();
  send(0, 0, 8, 1);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 1; }));
  send(1, 4, 0, 1);
  expect_lost(1, 0, HasSubstr("unknown kind 255")); // whoever knocks again hears why
}

TEST_F(data_plane_test, complains_of_a_node_that_has_vanished_again_and_again) {
  auto mine = setup(0);
  mine.patience = 100ms;
  send_to_a_node_that_ends(mine);
  expect_lost(0, 1, HasSubstr("could not be reached for 100 ms"));
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.losses >= 3; }));
}

/// A node that answers each hello, and then reads nothing: like one behind a path that carries what is short alone.
class deaf_node {
public:
  endpoint where() const { return {"127.0.0.1", door_.local_endpoint().port()}; }
  /// Takes the next connection and waits until frames come on it.
  asio::ip::tcp::socket hear_first_byte() {
    auto peer = door_.accept();
    asio::write(peer, asio::buffer(write(hello{.run = run, .fingerprint = 7, .node = 1, .meant_node = 0})));
    std::array<std::byte, hello_bytes + 1> said{};
    asio::read(peer, asio::buffer(said));
    return peer;
  }
  /// Says something that acknowledges nothing.
  static void mutter(asio::ip::tcp::socket& to) { asio::write(to, asio::buffer(acknowledgement_record(0))); }

private:
  asio::io_context io_{1};
  asio::ip::tcp::acceptor door_{io_, {asio::ip::address_v4::loopback(), 0}};
};

// The time is that of node 2, which has vanished: patience with node 1 began before, and is over before.
TEST_F(data_plane_test, complains_of_a_node_that_answers_and_takes_nothing) {
  deaf_node deaf;
  const auto vanished = deaf_node{}.where();
  auto mine = setup(0);
  mine.patience = 100ms;
  mine.share_memory = false;
  add(mine);
  addresses[1] = {0, deaf.where(), ranks_of(1)};
  addresses[2] = {0, vanished, ranks_of(2)};
  planes[0]->meet(addresses);
  send(0, 0, 4, 1);
  {
    auto open = deaf.hear_first_byte();
    send(0, 0, 8, 1);
    deaf_node::mutter(open);
    EXPECT_TRUE(seen.wait([](const ledger& l) { return l.lost.contains({0, 2}); }));
  }
  const auto next = deaf.hear_first_byte();
  seen.note([](const ledger& l) { EXPECT_THAT(l.lost, testing::Contains(testing::Key(std::pair{0U, 1U}))); });
}

TEST_F(data_plane_test, goes_on_with_a_node_that_was_out_of_reach) {
  auto mine = setup(0);
  mine.patience = 100ms;
  add(mine);
  add(setup(1));
  planes[0]->meet(addresses); // node 1 still refuses every node
  attach(1, 4);
  send(0, 0, 4, 1);
  expect_lost(0, 1, HasSubstr("could not be reached for 100 ms"));
  send(0, 0, 4, 2);
  planes[1]->meet(addresses);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 2; }));
  seen.note([](const ledger& l) { EXPECT_EQ(l.wrong, 0u); });
}

TEST_F(data_plane_test, keeps_frames_for_who_has_not_begun) {
  add(setup(0));
  add(setup(1));
  meet();
  attach(1, 5);
  for (std::uint64_t number = 1; number <= 100; ++number)
    send(0, 0, 4, number);
  send(0, 0, 5, 1);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.got.contains({0, 5}); }));
  attach(1, 4);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 101; }));
  seen.note([](const ledger& l) { EXPECT_EQ(l.wrong, 0u); });
}

TEST_F(data_plane_test, waits_for_a_peer_that_has_not_met_it_yet) {
  add(setup(0));
  add(setup(1));
  attach(1, 4);
  planes[0]->meet(addresses);
  send(0, 0, 4, 1);
  test::raw_connection knock{planes[1]->listens_on().port};
  knock.send(write(hello{.run = run, .fingerprint = 7, .node = 0, .meant_node = 1}));
  EXPECT_GT(knock.receive_until_closed().size(), hello_bytes) << "it is refused for the time being";
  planes[1]->meet(addresses);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 1; }));
  seen.note([](const ledger& l) { EXPECT_TRUE(l.lost.empty()); });
}

TEST_F(data_plane_test, begins_anew_with_the_next_life_of_a_node) {
  start(2);
  send(0, 0, 4, 1);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 1; }));
  auto next = setup(1);
  next.life = 1;
  planes[1] = std::make_unique<data_plane>(next);
  addresses[1] = {1, planes[1]->listens_on(), ranks_of(1)};
  meet();
  attach(1, 5);
  send(0, 0, 5, 1);
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 2; }));
  seen.note([](const ledger& l) { EXPECT_TRUE(l.lost.empty()); });
}

TEST_F(data_plane_test, sends_what_was_sent_before_its_end) {
  start(2);
  for (std::uint64_t number = 1; number <= 10; ++number)
    send(0, 0, 4, number, 300'000);
  auto late = planes[0]->link_to(0, {4, 0});
  planes[0].reset();
  late->send(test::numbered_frame(pool, 0, 11, 10));
  EXPECT_TRUE(seen.wait([](const ledger& l) { return l.frames == 10; }));
}

TEST_F(data_plane_test, does_not_wait_at_its_end_for_a_node_that_has_ended) {
  auto mine = setup(0);
  mine.patience = mine.longest_flush = 1h;
  send_to_a_node_that_ends(mine);
  planes[0].reset();
  seen.note([](const ledger& l) { EXPECT_EQ(l.frames, 1u); });
}

// The thread of node 1 takes both letters at once, the new sink's and the end: it does not go on before both are there.
TEST_F(data_plane_test, closes_although_a_sink_throws_for_a_frame_that_has_waited) {
  add(setup(0));
  add(setup(1));
  meet();
  bool is_held = false, goes_on = false; // guarded by `seen`
  planes[1]->attach({5, 0}, [&](const frame&) {
    seen.note([&](ledger&) { is_held = true; });
    EXPECT_TRUE(seen.wait([&](const ledger&) { return goes_on; }));
  });
  send(0, 0, 4, 1);
  send(0, 0, 5, 1);
  ASSERT_TRUE(seen.wait([&](const ledger&) { return is_held; }));
  planes[1]->attach({4, 0}, [](const frame&) { throw std::runtime_error("there is no memory"); });
  const auto to = planes[1]->link_to(4, {0, 0});
  std::jthread closing([&] { planes[1]->close(); });
  while (!goes_on) { // a plane that closes takes no more frames
    const auto on_the_way = std::make_shared<int>();
    auto f = test::numbered_frame(pool, 4, 1, 10);
    f.on_the_way = on_the_way;
    to->send(std::move(f));
    if (on_the_way.use_count() == 1)
      seen.note([&](ledger&) { goes_on = true; });
  }
  closing.join();
  expect_lost(1, 0, HasSubstr("the data plane of node 1 has failed: there is no memory"));
}

TEST_F(data_plane_test, says_when_the_port_is_in_use) {
  auto& first = add(setup(0));
  auto second = setup(1);
  second.listen_on = first.listens_on();
  const auto sentence = test::refusal_of([&] { data_plane{second}; }, errc::io);
  EXPECT_EQ(sentence, "cannot listen on " + to_string(first.listens_on()) + ": the port is in use");
}

/// Connections of a worker of node 0 that sends to rank 4, of node 1.
class sender_to_another_node : public data_plane_test {
protected:
  static constexpr std::uint64_t most = 1 << 20;

  /// Sends until there is no room.
  void fill() {
    roster all;
    all.incarnations.assign(2 * test::ranks_a_node, 0);
    all.present.assign(2 * test::ranks_a_node, true);
    ends.emplace(life{0, 0}, false, std::shared_ptr<transport>{std::shared_ptr<transport>{}, planes[0].get()},
                 room_to_send{most, [this] { seen.note([this](ledger&) { more_room = true; }); }});
    ends->meet(std::make_shared<const roster>(std::move(all)));
    while (ends->has_room())
      ends->send(4, test::numbered_frame(pool, 0, ++sent, 100'000), {});
  }

  std::optional<connections> ends;
  std::uint64_t sent = 0;
  bool more_room = false; ///< guarded by `seen`
};

TEST_F(sender_to_another_node, has_room_again_when_the_other_node_has_taken_what_was_sent) {
  add(setup(0));
  add(setup(1));
  planes[0]->meet(addresses); // node 1 still refuses every node
  fill();
  EXPECT_EQ(sent, most / 100'000 + 1);
  attach(1, 4);
  seen.note([this](const ledger& l) {
    EXPECT_FALSE(more_room);
    EXPECT_EQ(l.frames, 0u);
  });
  planes[1]->meet(addresses);
  EXPECT_TRUE(seen.wait([this](const ledger&) { return more_room; }));
  EXPECT_TRUE(ends->has_room());
  EXPECT_TRUE(seen.wait([this](const ledger& l) { return l.frames == sent; }));
}

TEST_F(sender_to_another_node, has_room_again_when_the_other_node_has_gone) {
  add(setup(0));
  add(setup(1));
  planes[0]->meet(addresses);
  fill();
  addresses.erase(1);
  planes[0]->meet(addresses);
  EXPECT_TRUE(seen.wait([this](const ledger&) { return more_room; }));
  EXPECT_TRUE(ends->has_room());
}

} // namespace
} // namespace gossamer::actors
