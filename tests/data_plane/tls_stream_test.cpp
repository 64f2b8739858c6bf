// Bytes under TLS that come in pieces.
#include "gossamer/actors/data_plane/detail/tls_stream.hpp"

#include <gmock/gmock.h>

#include <array>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "data_plane/certificates.hpp"

namespace gossamer::actors::detail {
namespace {

/// A socket whose other end is in the test's hands.
struct wire_end {
  explicit wire_end(asio::io_context& io) : stream_end(io) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    stream_end.assign(asio::ip::tcp::v4(), ends[0]);
    outside = ends[1];
  }
  wire_end(const wire_end&) = delete;
  wire_end& operator=(const wire_end&) = delete;
  ~wire_end() { close(outside); }

  asio::ip::tcp::socket stream_end;
  int outside = -1;
};

class tls_stream_pair : public testing::Test {
protected:
  tls_stream_pair() {
    for (int k = 0; k < 20 && !(client_.is_established() && server_.is_established()); ++k) {
      for (auto* one : {&client_, &server_})
        one->write_some({});
      carry(client_end_, server_end_);
      carry(server_end_, client_end_);
      for (auto* one : {&client_, &server_})
        EXPECT_EQ(read(*one), 0u);
    }
    EXPECT_TRUE(client_.is_established() && server_.is_established());
    carry(server_end_, client_end_);
    read(client_);
  }

  static std::size_t read(tls_stream& from) {
    std::vector<std::byte> to(1 << 16);
    return from.read_some(to).bytes;
  }
  /// Carries at most so many bytes. @returns their number
  static std::size_t carry(const wire_end& from, const wire_end& to, std::size_t most = 1 << 20) {
    std::vector<char> bytes(most);
    const auto got = recv(from.outside, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0)
      return 0;
    EXPECT_EQ(send(to.outside, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL), got);
    return static_cast<std::size_t>(got);
  }

  test::certificates ours_;
  asio::io_context io_;
  wire_end client_end_{io_}, server_end_{io_};
  tls_stream server_{std::move(server_end_.stream_end), ours_.identity()};
  tls_stream client_{std::move(client_end_.stream_end), ours_.identity(), "127.0.0.1"};
};

TEST_F(tls_stream_pair, waits_for_the_rest_of_a_record) {
  const std::vector<std::byte> record(16'000);
  const std::array<std::span<const std::byte>, 1> pieces{record};
  EXPECT_EQ(client_.write_some(pieces).bytes, record.size());
  ASSERT_EQ(carry(client_end_, server_end_, 1448), 1448u);
  EXPECT_EQ(read(server_), 0u);
  EXPECT_FALSE(server_.has_unread()) << "its owner would read again and again until the rest has come";
  EXPECT_GT(carry(client_end_, server_end_), 0u);
  EXPECT_EQ(read(server_), record.size());
  EXPECT_FALSE(server_.has_unread());
}

} // namespace
} // namespace gossamer::actors::detail
