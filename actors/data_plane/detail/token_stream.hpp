#pragma once

#include "gossamer/actors/data_plane/detail/stream.hpp"
#include "gossamer/actors/data_plane/token_handshake.hpp"

namespace gossamer::actors::detail {

/// A connection on which both sides prove that they know a token before anything else. The bytes after it are in the
/// clear.
class token_stream final : public socket_stream {
public:
  token_stream(tcp::socket s, const access_token& token, token_handshake::role own_role);

  transfer read_some(std::span<std::byte> to) override;
  transfer write_some(pieces what) override;
  bool is_established() const noexcept override { return handshake_.now() == token_handshake::state::established; }
  bool is_refused() const noexcept override { return handshake_.now() == token_handshake::state::refused; }

private:
  /// @returns whether bytes may be exchanged
  bool shake_hands();
  bool send_words();
  void end(std::string_view why);

  token_handshake handshake_;
  bool gone_ = false;
};

} // namespace gossamer::actors::detail
