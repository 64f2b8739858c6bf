#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gossamer::actors::test {

/// A connection to a port of this machine. Its owner is no node, or does not behave like one.
class raw_connection {
public:
  /// @param patience longest silence of the other end that a call waits for; 0: for ever
  explicit raw_connection(std::uint16_t port, std::chrono::seconds patience = {})
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval longest{patience.count(), 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
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
  /// Sends all, unless the other end has closed or does not read.
  void send_text(std::string_view text) const {
    while (connected_ && !text.empty()) {
      const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Receives a piece of text; empty when the other end has closed, or is silent.
  std::string receive_text() const {
    std::string piece(4096, '\0');
    const auto got = connected_ ? recv(socket_, piece.data(), piece.size(), 0) : 0;
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return piece;
  }

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
