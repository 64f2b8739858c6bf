#pragma once

#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gossamer::actors::test {

/// A connection to a port of this machine. Its owner is no node, or does not behave like one.
class raw_connection {
public:
  explicit raw_connection(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  raw_connection(raw_connection&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  raw_connection& operator=(raw_connection&&) = delete;
  ~raw_connection() {
    if (socket_ >= 0)
      close(socket_);
  }

  void send(std::span<const std::byte> bytes) const { ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  /// Returns the received bytes. Blocks until the other side has closed.
  std::vector<std::byte> receive_until_closed() const {
    std::vector<std::byte> result(connected_ ? 4096 : 0);
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size<result.size(); size += got> 0 ? static_cast<std::size_t>(got) : 0)
      got = recv(socket_, result.data() + size, result.size() - size, 0);
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(size), result.end());
    return result;
  }

private:
  int socket_;
  bool connected_ = false;
};

} // namespace gossamer::actors::test
