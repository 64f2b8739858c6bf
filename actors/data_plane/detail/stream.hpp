#pragma once

#include "gossamer/actors/data_plane/detail/sockets.hpp"
#include "gossamer/compress/packet.hpp"

#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#ifndef ASIO_DISABLE_STD_ALIGNED_ALLOC
#error "link asio::asio: without its definitions, files disagree on the owner of Asio's memory"
#endif

namespace gossamer::actors {
struct credentials;
}

namespace gossamer::actors::detail {

/// The bytes of a connection: in the clear, under TLS, or through memory. A stream moves as many bytes as possible at
/// once, and says what to wait for. Threads: one.
class stream {
public:
  using tcp = asio::ip::tcp;
  using pieces = std::span<const std::span<const std::byte>>;

  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  virtual ~stream() = default;

  virtual tcp::socket& socket() noexcept = 0;

  using waiter = std::function<void()>;
  /// Calls `then` once, when there may be something to read; never, if the stream is closed before.
  virtual void wait_to_read(waiter then) = 0;
  /// Calls `then` once, when there may be room to write; never, if the stream is closed before.
  virtual void wait_to_write(waiter then) = 0;

  /// Reads until no more bytes are there, or the span is full.
  virtual transfer read_some(std::span<std::byte> to) = 0;
  /// Writes the first bytes of the pieces, of which there are 256 at most. Call it again after `wait_to_write` if the
  /// result has `waits`, even without pieces; otherwise after `wait_to_read`.
  virtual transfer write_some(pieces what) = 0;
  /// True if `read_some` may return more before the socket is ready again.
  virtual bool has_unread() noexcept { return false; }

  /// The guard of the bytes against damage on the way.
  virtual compress::guard guards() const noexcept { return compress::guard::checksum; }

  /// True if both sides have shown their credentials; until then, reading advances the handshake.
  virtual bool is_established() const noexcept { return true; }
  /// True if the peer asks for other credentials, so that another connection would end in the same way.
  virtual bool is_refused() const noexcept { return false; }

  /// The fault of a peer whose connection is gone, worded to follow its name; empty if the peer has just closed it.
  const std::string& trouble() const noexcept { return trouble_; }

protected:
  std::string trouble_;
};

/// A stream with a socket of its own.
class socket_stream : public stream {
public:
  explicit socket_stream(tcp::socket s) : socket_(std::move(s)) {}
  tcp::socket& socket() noexcept override { return socket_; }
  void wait_to_read(waiter then) override;
  void wait_to_write(waiter then) override;

protected:
  int handle() { return socket_.native_handle(); }
  transfer receive_from_socket(std::span<std::byte> to);
  transfer send_to_socket(pieces what);

private:
  tcp::socket socket_;
};

/// The stream of a connection that was accepted.
std::unique_ptr<stream> accepting_stream(asio::ip::tcp::socket s, const credentials& shown);

/// The stream of a connection that this process opens.
/// @param host the name that the peer's certificate must have
std::unique_ptr<stream> opening_stream(asio::ip::tcp::socket s, const credentials& shown, const std::string& host);

} // namespace gossamer::actors::detail
