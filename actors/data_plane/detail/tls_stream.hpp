#pragma once

#include "gossamer/actors/data_plane/detail/stream.hpp"
#include "gossamer/actors/data_plane/tls/detail/openssl.hpp"

#include <vector>

namespace gossamer::actors {
class tls_identity;
}

namespace gossamer::actors::detail {

/// A connection under TLS. Both sides show a certificate before anything else. Many small pieces become one record, and
/// many records one system call. Sealed bytes that the socket has not taken are at most a few records, so they hold up
/// small frames as little as the bytes that wait in the socket.
class tls_stream final : public socket_stream {
public:
  /// The stream of a connection that was accepted.
  tls_stream(tcp::socket s, std::shared_ptr<const tls_identity> identity);
  /// The stream of a connection that this process opens. @param host the name that the peer's certificate must have
  tls_stream(tcp::socket s, std::shared_ptr<const tls_identity> identity, const std::string& host);

  transfer read_some(std::span<std::byte> to) override;
  transfer write_some(pieces what) override;
  bool has_unread() noexcept override;
  compress::guard guards() const noexcept override { return compress::guard::carrier; }
  bool is_established() const noexcept override;

private:
  /// The bytes that OpenSSL reads and writes in place of a socket.
  struct bio;

  /// @returns whether bytes may be exchanged
  bool shake_hands();
  bool seal(std::span<const std::byte> record);
  void flush();
  /// @param result of a call of OpenSSL that did not succeed
  void look_at(int result);
  std::string reason() const;
  int take(std::span<std::byte> to) noexcept;

  std::shared_ptr<const tls_identity> identity_;
  std::vector<std::byte> sealed_; ///< for the socket
  std::size_t sealed_begin_ = 0;
  std::vector<std::byte> received_; ///< from the socket
  std::size_t received_begin_ = 0, received_end_ = 0;
  std::vector<std::byte> record_; ///< gathered from small pieces
  std::uint64_t under_this_key_ = 0;
  bool has_spoken_ = false, at_end_ = false, broken_ = false, gone_ = false;
  ssl_ptr ssl_; ///< refers to the other members
};

} // namespace gossamer::actors::detail
