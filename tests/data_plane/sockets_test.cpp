#include "gossamer/actors/data_plane/detail/descriptor.hpp"
#include "gossamer/actors/data_plane/detail/silence.hpp"
#include "gossamer/actors/data_plane/detail/sockets.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>

namespace gossamer::actors::detail {
namespace {

/// A connection between two addresses of this machine.
class connection {
public:
  connection(const char* from, const char* to) {
    const descriptor door{socket(AF_INET, SOCK_STREAM, 0)};
    one_ = descriptor{socket(AF_INET, SOCK_STREAM, 0)};
    bind_to(one_, from);
    auto there = bind_to(door, to);
    begin_unpaced(one_.get());
    begin_unpaced(door.get());
    EXPECT_EQ(listen(door.get(), 1), 0);
    EXPECT_EQ(connect(one_.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    other_ = descriptor{accept(door.get(), nullptr, nullptr)};
  }

  const descriptor& one() const { return one_; }
  const descriptor& other() const { return other_; }

private:
  static sockaddr_in bind_to(const descriptor& s, const char* host) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    EXPECT_EQ(inet_pton(AF_INET, host, &here.sin_addr), 1);
    socklen_t size = sizeof here;
    EXPECT_EQ(bind(s.get(), reinterpret_cast<const sockaddr*>(&here), size), 0);
    EXPECT_EQ(getsockname(s.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
    return here;
  }

  descriptor one_, other_;
};

std::string congestion_control_of(const descriptor& s) {
  std::array<char, 16> name{};
  socklen_t size = name.size() - 1;
  EXPECT_EQ(getsockopt(s.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size), 0);
  return name.data();
}

TEST(tuned_sockets, use_reno_between_two_ends_with_one_address) {
  const connection c{"127.0.0.1", "127.0.0.1"};
  for (const auto* s : {&c.one(), &c.other()}) {
    EXPECT_NE(congestion_control_of(*s), "bbr"); // which would pace it for good
    tune(s->get(), std::chrono::seconds{1});
    EXPECT_EQ(congestion_control_of(*s), "reno");
  }
}

TEST(tuned_sockets, keep_the_congestion_control_of_the_system_between_others) {
  const connection c{"127.0.0.2", "127.0.0.1"};
  const descriptor fresh{socket(AF_INET, SOCK_STREAM, 0)};
  for (const auto* s : {&c.one(), &c.other()}) {
    tune(s->get(), std::chrono::seconds{1});
    EXPECT_EQ(congestion_control_of(*s), congestion_control_of(fresh));
  }
}

class silence_test : public testing::Test {
protected:
  /// Looks at the connection. @returns whether it has been silent for too long
  bool look(int at_ms, std::uint32_t repeats, int last_answer_ms_ago) {
    const silence::time now{std::chrono::milliseconds{at_ms}};
    return silent.is_over_with({repeats, std::chrono::milliseconds{last_answer_ms_ago}, round_trip}, now);
  }

  silence silent;
  std::chrono::milliseconds round_trip{40};
};

TEST_F(silence_test, begins_where_data_are_sent_again) {
  EXPECT_FALSE(look(0, 0, 60'000)) << "it was idle";
  EXPECT_FALSE(look(500, 1, 60'500)) << "that its last answer is old says nothing";
  EXPECT_FALSE(look(1000, 2, 61'000));
  EXPECT_FALSE(look(2500, 3, 62'500));
  EXPECT_TRUE(look(2501, 3, 62'501));
}

TEST_F(silence_test, ends_with_an_answer) {
  EXPECT_FALSE(look(500, 1, 500));
  EXPECT_FALSE(look(2400, 3, 100)) << "of a machine whose process reads nothing";
  EXPECT_FALSE(look(4200, 4, 1900));
  EXPECT_FALSE(look(4300, 0, 50)) << "all has arrived";
  EXPECT_FALSE(look(4400, 1, 150));
  EXPECT_FALSE(look(6400, 4, 2150));
  EXPECT_TRUE(look(6401, 4, 2151));
}

TEST_F(silence_test, lasts_for_some_round_trips_of_a_slow_network) {
  round_trip = std::chrono::milliseconds{1500};
  EXPECT_FALSE(look(0, 1, 3000));
  EXPECT_FALSE(look(6000, 2, 9000));
  EXPECT_TRUE(look(6001, 2, 9001));
}

} // namespace
} // namespace gossamer::actors::detail
