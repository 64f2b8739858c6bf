// Local sockets whose bytes travel under TLS on 127.0.0.1.
#include "gossamer/actors/data_plane/tls/tunnel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <future>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "data_plane/certificates.hpp"
#include "data_plane/raw_connection.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

/// One end of a pair; blocking.
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
  /// Until the other end is closed, or so much has come.
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

private:
  int socket_;
};

class tunnel : public testing::Test {
protected:
  endpoint listen(tls_tunnel& where) {
    return where.listen({"127.0.0.1", 0}, [this](int socket) { arrived.set_value(socket); });
  }

  test::certificates ours, others;
  std::promise<int> arrived;
};

std::vector<char> noise(std::size_t size, unsigned seed) {
  std::vector<char> result(size);
  for (std::size_t i = 0; i < size; ++i)
    result[i] = static_cast<char>(seed + i * 7 + (i >> 8));
  return result;
}

TEST_F(tunnel, carries_bytes_both_ways_and_ends_behind_the_last) {
  tls_tunnel here{ours.identity()}, there{ours.identity()};
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

TEST_F(tunnel, ends_where_the_other_side_has_gone) {
  auto there = std::make_unique<tls_tunnel>(ours.identity());
  tls_tunnel here{ours.identity()};
  const local_end near{here.connect(listen(*there))};
  std::make_unique<local_end>(arrived.get_future().get())->say(noise(1000, 3));
  EXPECT_EQ(near.hear(), noise(1000, 3));
}

TEST_F(tunnel, does_not_wait_for_strangers_at_its_end) {
  tls_tunnel here{ours.identity()};
  auto there = std::make_unique<tls_tunnel>(ours.identity());
  const auto where = listen(*there);
  std::vector<test::raw_connection> strangers;
  for (std::uint8_t k = 0; k < 20; ++k) {
    strangers.emplace_back(where.port);
    strangers.back().send(std::vector(50U * k, std::byte{k}));
  }
  const local_end near{here.connect(where)}, far{arrived.get_future().get()};
  far.say(noise(10, 4));
  EXPECT_EQ(near.hear(10), noise(10, 4));
  there.reset();
  EXPECT_TRUE(near.hear().empty());
  for (const auto& s : strangers)
    EXPECT_TRUE(s.receive_until_closed().empty()) << "strangers are told nothing";
}

TEST_F(tunnel, says_why_there_is_no_connection) {
  tls_tunnel here{ours.identity()};
  {
    tls_tunnel there{others.identity()};
    EXPECT_EQ(here.connect(listen(there)), -1);
    EXPECT_EQ(here.trouble(), "shows a certificate that is not of this authority");
  }
  EXPECT_EQ(here.connect({"127.0.0.1", 1}), -1);
  EXPECT_THAT(here.trouble(), HasSubstr("cannot be connected to"));
  EXPECT_EQ(here.connect({"nowhere.invalid", 1}), -1);
  EXPECT_THAT(here.trouble(), HasSubstr("has a name that is not known"));
}

} // namespace
} // namespace gossamer::actors
