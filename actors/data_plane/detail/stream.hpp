#pragma once

#include "gossamer/actors/data_plane/detail/sockets.hpp"
#include "gossamer/compress/packet.hpp"

#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

namespace gossamer::actors {
struct credentials;
}

namespace gossamer::actors::detail {

/// The bytes of a connection: as they are, under TLS, or through memory. It moves what can be moved at once, and says
/// what to wait for. Threads: one.
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
  /// Called once, when there may be something to read; or not, when the stream is closed before.
  virtual void wait_to_read(waiter then) = 0;
  /// Likewise, of writing.
  virtual void wait_to_write(waiter then) = 0;

  /// Reads until there is nothing, or the span is full.
  virtual transfer read_some(std::span<std::byte> to) = 0;
  /// Takes the first bytes of the pieces, of which there are 256 at most, and writes them. To be called again after
  /// `wait_to_write`, if the result says so, also with nothing to say; else after `wait_to_read`.
  virtual transfer write_some(pieces what) = 0;
  /// Whether `read_some` may give more before the socket is ready again.
  virtual bool has_unread() noexcept { return false; }

  /// What guards the bytes against damage on the way.
  virtual compress::guard guards() const noexcept { return compress::guard::checksum; }

  /// Whether both sides have shown who they are; until then, reading makes progress with that.
  virtual bool is_established() const noexcept { return true; }
  /// Whether the peer asks for other credentials, so that another connection would come to the same end.
  virtual bool is_refused() const noexcept { return false; }

  /// What to say of a peer whose connection is gone, behind its name; empty when it has just closed it.
  const std::string& trouble() const noexcept { return trouble_; }

protected:
  std::string trouble_;
};

/// One that has a socket of its own.
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

/// For a connection that was accepted.
std::unique_ptr<stream> accepting_stream(asio::ip::tcp::socket s, const credentials& shown);

/// For a connection that is opened.
/// @param host what the peer's certificate must be for
std::unique_ptr<stream> opening_stream(asio::ip::tcp::socket s, const credentials& shown, const std::string& host);

} // namespace gossamer::actors::detail
