#pragma once

#include "gossamer/actors/data_plane/access_token.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gossamer::actors {

/// Shows two processes that both know a token, without sending it:
///
///     opens:    greeting, nonce a ------>
///               <------ greeting, nonce b   accepts
///               proof of "opens" ------->
///               <----- proof of "accepts"   or zeros: the token is another one
///
/// A proof is the HMAC-SHA-256, under the token, of the role and both nonces. Nonces are drawn for each connection, so
/// recorded bytes prove nothing on another one, and a proof that is sent back has the wrong role. The accepting process
/// sends nothing to a peer that does not begin with the greeting. A handshake has no socket and no clock: its owner
/// carries bytes and ends attempts that take too long. Threads: one.
class token_handshake {
public:
  enum class role : std::uint8_t { opens, accepts };
  enum class state : std::uint8_t {
    under_way,
    established,
    refused, ///< the peer asks for another token
    failed,
  };

  static constexpr std::size_t nonce_bytes = 32, proof_bytes = 32;
  static constexpr std::string_view greeting = "gossamer door 1\n"; ///< changes with the layout
  static constexpr std::size_t greeting_bytes = greeting.size() + nonce_bytes;
  using nonce = std::array<std::byte, nonce_bytes>;

  /// @param own drawn for this connection
  token_handshake(role own_role, const access_token& token, const nonce& own);

  state now() const noexcept { return state_; }
  /// The fault of the peer, worded to follow its name, in state `refused` or `failed`.
  std::string_view trouble() const noexcept { return trouble_; }
  /// The meaning of a close by the peer, worded to follow its name.
  std::string_view meaning_of_close() const noexcept;

  /// The place for the next bytes of the peer, of which there may be fewer. Empty unless `under_way`: later bytes do
  /// not belong to the handshake.
  std::span<std::byte> room() noexcept;
  void commit(std::size_t bytes);

  /// The bytes to be written, even after a failure.
  std::span<const std::byte> unsent() const noexcept { return std::span{out_}.subspan(sent_, said_ - sent_); }
  void sent(std::size_t bytes) noexcept { sent_ += bytes; }

private:
  using proof = std::array<std::byte, proof_bytes>;

  void greet();
  void hear_greeting();
  void hear_proof();
  void say(std::span<const std::byte> bytes);
  void fail(state how, std::string_view why);
  proof proof_of(role whose) const;

  role own_role_;
  access_token token_;
  nonce own_, theirs_{};
  state state_ = state::under_way;
  bool greeted_ = false; ///< by the peer
  std::array<std::byte, greeting_bytes> in_{};
  std::array<std::byte, greeting_bytes + proof_bytes> out_{};
  std::size_t heard_ = 0, said_ = 0, sent_ = 0;
  std::string_view trouble_;
};

} // namespace gossamer::actors
