// Local sockets whose bytes travel on 127.0.0.1, under TLS or behind a token.
#include "gossamer/actors/data_plane/detail/descriptor.hpp"
#include "gossamer/actors/data_plane/lane_session.hpp"
#include "gossamer/actors/data_plane/tunnel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "data_plane/certificates.hpp"
#include "data_plane/raw_connection.hpp"
#include "data_plane/support.hpp"
#include "support/broken_connections.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

/// One end of a pair of sockets, in blocking mode.
class local_end {
public:
  explicit local_end(int socket) : socket_(socket) {
    const timeval deadline{.tv_sec = 60, .tv_usec = 0};
    const int flags = fcntl(socket_, F_GETFL);
    fcntl(socket_, F_SETFL, flags & ~O_NONBLOCK);
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
  }
  local_end(local_end&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  local_end& operator=(local_end&&) = delete;
  ~local_end() {
    if (socket_ >= 0)
      close(socket_);
  }

  void say(const std::vector<char>& text) const {
    for (std::size_t sent = 0; sent < text.size();) {
      const auto now = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(now, 0);
      sent += static_cast<std::size_t>(now);
    }
  }
  /// Returns received bytes. Blocks until the other end is closed, or `most` bytes have come.
  std::vector<char> hear(std::size_t most = std::size_t{1} << 30) const {
    std::vector<char> result;
    std::array<char, 10'000> part{};
    while (result.size() < most) {
      const auto now = recv(socket_, part.data(), std::min(part.size(), most - result.size()), 0);
      if (now <= 0)
        break;
      result.insert(result.end(), part.begin(), part.begin() + now);
    }
    return result;
  }

  /// Blocks until a byte comes, or the other end is closed, which the system calls a reset while that end had still
  /// something to read. @returns whether it is closed
  bool has_ended() const {
    char byte{};
    const auto got = recv(socket_, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

private:
  int socket_;
};

class tunnel_test : public testing::Test {
protected:
  endpoint listen(tunnel& where) {
    return where.listen({"127.0.0.1", 0}, [this](int socket) { arrived.set_value(socket); });
  }

  credentials certified() { return {ours.identity(), std::nullopt}; }

  test::certificates ours, others;
  std::promise<int> arrived;
};

/// Returns a control message of `size` bytes, header included.
std::vector<char> noise(std::size_t size, unsigned seed) {
  std::vector<char> result(size);
  for (std::size_t i = 0; i < size; ++i)
    result[i] = static_cast<char>(seed + i * 7 + (i >> 8));
  const auto header = test::control_header(static_cast<std::uint32_t>(size - control_guard::header_bytes));
  std::ranges::transform(header, result.begin(), [](std::byte b) { return static_cast<char>(b); });
  return result;
}

TEST_F(tunnel_test, carries_bytes_both_ways_and_ends_behind_the_last) {
  tunnel here{certified()}, there{certified()};
  auto near = std::make_unique<local_end>(here.connect(listen(there)));
  const local_end far{arrived.get_future().get()};
  const auto question = noise(5'000'000, 1), answer = noise(3'000'000, 2);
  std::vector<char> heard_there;
  std::jthread listening{[&] { heard_there = far.hear(); }}, answering{[&] { far.say(answer); }};
  near->say(question);
  EXPECT_EQ(near->hear(answer.size()), answer);
  near.reset();
  listening.join();
  EXPECT_EQ(heard_there, question);
}

TEST_F(tunnel_test, ends_where_the_other_side_has_gone) {
  auto there = std::make_unique<tunnel>(certified());
  tunnel here{certified()};
  const local_end near{here.connect(listen(*there))};
  std::make_unique<local_end>(arrived.get_future().get())->say(noise(1000, 3));
  EXPECT_EQ(near.hear(), noise(1000, 3));
}

TEST_F(tunnel_test, carries_the_last_words_of_a_side_that_does_not_listen_any_more) {
  tunnel here{credentials{}}, there{credentials{}};
  const local_end near{here.connect(listen(there))};
  auto far = std::make_unique<local_end>(arrived.get_future().get());
  near.say(noise(1'000'000, 1));
  far->say(noise(1000, 2));
  far.reset();
  EXPECT_EQ(near.hear(1000), noise(1000, 2));
  EXPECT_TRUE(near.has_ended());
}

TEST_F(tunnel_test, goes_on_where_connections_are_reset) {
  using testing_support::reset_end;
  const auto token = access_token{std::string(43, 'x'), "a test"};
  for (const auto& shown : std::vector{credentials{}, certified(), credentials{nullptr, token}})
    for (const auto which : {reset_end::opening, reset_end::accepting}) {
      arrived = {};
      tunnel here{shown}, there{shown};
      const auto where = listen(there);
      here.listen({"127.0.0.1", 0}, [](int socket) { close(socket); }); // it lives: somebody may ask
      const local_end near{here.connect(where)}, far{arrived.get_future().get()};
      int resets = 0;
      for (unsigned k = 0; k < 20; ++k) {
        const auto question = noise(200'000 + k, k), answer = noise(100'000 + k, k + 50);
        std::jthread asks{[&] { near.say(question); }}, answers{[&] { far.say(answer); }};
        resets += testing_support::reset_connections_to(where.port, which); // some bytes are on their way
        EXPECT_EQ(near.hear(answer.size()), answer) << k;
        EXPECT_EQ(far.hear(question.size()), question) << k;
      }
      EXPECT_GE(resets, 10) << "but where one comes before the lane goes on";
    }
}

/// Opens a lane from a tunnel to a door that this function answers by hand. @returns the far end, and the local one
std::pair<local_end, local_end> open_from(tunnel& here) {
  const detail::descriptor door{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  EXPECT_EQ(::listen(door.get(), 1), 0); // at any free port
  sockaddr_in where{};
  socklen_t size = sizeof where;
  getsockname(door.get(), reinterpret_cast<sockaddr*>(&where), &size);
  auto connecting = std::async(std::launch::async, [&] { return here.connect({"127.0.0.1", ntohs(where.sin_port)}); });
  local_end far{accept(door.get(), nullptr, nullptr)};
  far.say(far.hear(lane_hello_bytes)); // an accepter's hello names the same lane
  return {std::move(far), local_end{connecting.get()}};
}

TEST_F(tunnel_test, gives_signs_of_life_while_it_has_nothing_to_say) {
  tunnel here{credentials{}};
  const auto ends = open_from(here);
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(ends.first.hear(12), std::vector<char>(12)) << "a record without bytes";
}

TEST_F(tunnel_test, tells_its_door_on_lanes_that_it_opens_before_and_after_it_listens) {
  tunnel here{credentials{}};
  const auto before = open_from(here);
  const auto door = listen(here).port;
  const auto after = open_from(here);
  for (const auto* far : {&before.first, &after.first}) {
    lane_session hears{lane_id{}};
    for (int records = 0; hears.peer_door() == 0 && records < 5; ++records) { // the others are signs of life
      const auto record = far->hear(12);
      auto bytes = std::as_bytes(std::span{record});
      hears.take(bytes, {});
    }
    EXPECT_EQ(hears.peer_door(), door);
  }
}

/// Opens a lane to a tunnel by hand, for a process that does not listen any more, and says some words on it.
/// @returns the connection, which must not be closed
test::raw_connection open_by_hand(std::uint16_t port, const std::vector<char>& words) {
  const auto former = std::make_unique<tunnel>(credentials{})->listen({"127.0.0.1", 0}, [](int) {});
  lane_session session{{std::byte{1}}};
  session.tell_door(former.port);
  session.begin();
  test::raw_connection to{port};
  to.send(session.gather()[0]);
  session.wrote(lane_hello_bytes);
  EXPECT_TRUE(session.hear({.id = session.id()}));
  session.push(std::as_bytes(std::span{words}));
  for (auto next = session.gather(); !next[0].empty(); next = session.gather())
    for (const auto piece : next) {
      to.send(piece);
      session.wrote(piece.size());
    }
  return to;
}

/// What a process holds that was forked from this one, and has closed all connections to others.
std::vector<detail::descriptor> copies_of_local_sockets() {
  std::vector<int> sockets;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const int number = std::stoi(file.path().filename());
    int domain = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX)
      sockets.push_back(number);
  }
  std::vector<detail::descriptor> result;
  for (const auto number : sockets) // the thread sanitizer would take `dup` for a use that races with that of the owner
    result.emplace_back(static_cast<int>(syscall(SYS_dup, number)));
  return result;
}

TEST_F(tunnel_test, ends_at_once_where_the_process_behind_a_reset_connection_has_ended) {
  constexpr std::chrono::hours patience{1};
  for (const bool has_forked : {false, true}) {
    SCOPED_TRACE(has_forked ? "while a process that was forked from this one lives" : "");
    arrived = {};
    tunnel there{credentials{}, patience};
    const auto where = listen(there);
    const auto words = noise(1000, 4);
    const auto killed = open_by_hand(where.port, words);
    const local_end far{arrived.get_future().get()};
    EXPECT_EQ(far.hear(words.size()), words);
    const auto copies = has_forked ? copies_of_local_sockets() : std::vector<detail::descriptor>{};
    EXPECT_EQ(copies.size() >= 2, has_forked);
    EXPECT_EQ(testing_support::reset_connections_to(where.port), 1);
    EXPECT_TRUE(far.has_ended());
  }
}

TEST_F(tunnel_test, ends_where_nothing_is_heard_of_a_process_that_has_ended) {
  constexpr std::chrono::milliseconds patience{200};
  tunnel there{credentials{}, patience};
  const auto words = noise(1000, 5);
  const auto cut_off = open_by_hand(listen(there).port, words);
  const local_end far{arrived.get_future().get()};
  EXPECT_EQ(far.hear(words.size()), words);
  EXPECT_TRUE(far.has_ended());
}

TEST_F(tunnel_test, tells_a_lane_of_a_former_process_at_its_port_that_it_is_another_one) {
  tunnel there{credentials{}};
  test::raw_connection goes_on{listen(there).port};
  goes_on.send(write(lane_hello{.id = {std::byte{1}}, .received = 5, .goes_on = true}));
  const auto answer = goes_on.receive_until_closed();
  ASSERT_EQ(answer.size(), lane_hello_bytes);
  const auto theirs = read_lane_hello(std::span{answer}.first<lane_hello_bytes>());
  ASSERT_TRUE(theirs);
  EXPECT_NE(theirs->id, lane_id{std::byte{1}});
}

TEST_F(tunnel_test, does_not_wait_for_strangers_at_its_end) {
  tunnel here{certified()};
  auto there = std::make_unique<tunnel>(certified());
  const auto where = listen(*there);
  std::vector<test::raw_connection> strangers;
  for (std::uint8_t k = 0; k < 20; ++k) {
    strangers.emplace_back(where.port);
    strangers.back().send(std::vector(50U * k, std::byte{k}));
  }
  const local_end near{here.connect(where)}, far{arrived.get_future().get()};
  far.say(noise(100, 4));
  EXPECT_EQ(near.hear(100), noise(100, 4));
  there.reset();
  EXPECT_TRUE(near.hear().empty());
  for (const auto& s : strangers)
    EXPECT_TRUE(s.receive_until_closed().empty()) << "strangers are told nothing";
}

TEST_F(tunnel_test, lets_peers_in_while_strangers_hold_all_places) {
  tunnel here{credentials{}}, there{credentials{}};
  const auto where = listen(there);
  std::vector<test::raw_connection> strangers;
  const auto greeting = write(lane_hello{.id = {std::byte{1}}});
  for (std::size_t k = 0; k < 200; ++k) {
    strangers.emplace_back(where.port);
    strangers.back().send(std::span{greeting}.first(k / 100)); // the last ones begin to greet, and never end
  }
  const int connected = here.connect(where);
  ASSERT_GE(connected, 0) << here.trouble().why;
  const local_end near{connected}, far{arrived.get_future().get()};
  far.say(noise(100, 4));
  EXPECT_EQ(near.hear(100), noise(100, 4));
}

TEST_F(tunnel_test, says_that_no_files_may_be_opened_for_a_connection) {
  tunnel there{{}};
  const test::raw_connection guest{listen(there).port};
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  auto none = before;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  guest.send(write(lane_hello{.id = {std::byte{1}}}));
  EXPECT_EQ(arrived.get_future().get(), tunnel::no_connection);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(tunnel_test, says_why_there_is_no_connection) {
  tunnel here{certified()};
  {
    tunnel there{{others.identity(), std::nullopt}};
    EXPECT_EQ(here.connect(listen(there)), tunnel::no_connection);
    EXPECT_EQ(here.trouble().why, "shows a certificate that is not of this authority");
  }
  EXPECT_EQ(here.connect({"127.0.0.1", 1}), tunnel::no_connection);
  EXPECT_THAT(here.trouble().why, HasSubstr("cannot be connected to"));
  EXPECT_EQ(here.connect({"nowhere.invalid", 1}), tunnel::no_answer);
  EXPECT_THAT(here.trouble().why, HasSubstr("has a name that is not known"));
}

TEST_F(tunnel_test, carries_bytes_between_those_who_know_the_token) {
  const credentials knowing{nullptr, access_token::drawn()};
  tunnel here{knowing}, there{knowing};
  const local_end near{here.connect(listen(there))}, far{arrived.get_future().get()};
  near.say(noise(100'000, 5));
  EXPECT_EQ(far.hear(100'000), noise(100'000, 5));
  far.say(noise(100, 6));
  EXPECT_EQ(near.hear(100), noise(100, 6));
}

TEST_F(tunnel_test, says_that_a_token_is_refused) {
  tunnel here{{nullptr, access_token::drawn()}}, there{{nullptr, access_token::drawn()}};
  const auto where = listen(there);
  EXPECT_EQ(here.connect(where), tunnel::no_connection);
  EXPECT_EQ(here.trouble().why, "does not accept this token");
  EXPECT_TRUE(here.trouble().is_refused);
  EXPECT_EQ(here.trouble().where, where);
}

TEST_F(tunnel_test, says_that_the_other_side_asks_for_no_token_or_for_certificates) {
  tunnel here{{nullptr, access_token::drawn()}};
  tunnel certificates{certified()}, nothing{{}};
  const auto ignore = [](int socket) { close(socket); };
  for (auto* there : {&certificates, &nothing}) {
    EXPECT_EQ(here.connect(there->listen({"127.0.0.1", 0}, ignore)), tunnel::no_connection);
    EXPECT_THAT(here.trouble().why, HasSubstr("as a node with certificates or with --no-token does"));
    EXPECT_FALSE(here.trouble().is_refused);
  }
}

TEST_F(tunnel_test, ends_before_a_message_that_is_longer_than_the_run_has_them) {
  const credentials knowing{nullptr, access_token::drawn()};
  tunnel here{knowing}, there{knowing};
  there.bound_messages(1000);
  const local_end near{here.connect(listen(there))}, far{arrived.get_future().get()};
  near.say(noise(1032, 8));
  EXPECT_EQ(far.hear(1032), noise(1032, 8)) << "one that is as long may pass";
  const auto header = test::control_header(1001);
  std::vector<char> said(header.size());
  std::ranges::transform(header, said.begin(), [](std::byte b) { return static_cast<char>(b); });
  near.say(said);
  EXPECT_TRUE(far.hear().empty()) << "not even the header";
  EXPECT_TRUE(near.hear().empty());
}

TEST_F(tunnel_test, bounds_messages_also_where_whoever_comes_is_let_in) {
  tunnel there{{}};
  there.bound_messages(1000);
  const test::raw_connection stranger{listen(there).port};
  stranger.send(write(lane_hello{.id = {std::byte{1}}}));
  const local_end far{arrived.get_future().get()};
  const std::array record{std::byte{control_guard::header_bytes}};
  stranger.send(record);
  stranger.send(std::array<std::byte, 11>{}); // the rest of the record's header
  stranger.send(test::control_header(0x30000000));
  EXPECT_TRUE(far.hear().empty());
  EXPECT_LE(stranger.receive_until_closed().size(), lane_hello_bytes) << "nothing behind the hello";
}

} // namespace
} // namespace gossamer::actors
