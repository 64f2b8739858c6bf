#include "gossamer/actors/data_plane/detail/token_stream.hpp"

#include "gossamer/base/entropy.hpp"

namespace gossamer::actors::detail {

namespace {

token_handshake::nonce drawn_nonce() {
  token_handshake::nonce result{};
  draw_secret(result);
  return result;
}

} // namespace

token_stream::token_stream(tcp::socket s, const access_token& token, token_handshake::role own_role)
    : socket_stream(std::move(s)), handshake_(own_role, token, drawn_nonce()) {}

transfer token_stream::read_some(std::span<std::byte> to) {
  if (!shake_hands())
    return {.gone = gone_};
  return receive_from_socket(to);
}

transfer token_stream::write_some(pieces what) {
  if (!shake_hands())
    return {.gone = gone_, .waits = !gone_ && !handshake_.unsent().empty()};
  return send_to_socket(what);
}

bool token_stream::shake_hands() {
  using state = token_handshake::state;
  while (!gone_) {
    const bool all_is_said = send_words();
    if (gone_ || handshake_.now() == state::established)
      return all_is_said && !gone_;
    if (handshake_.now() != state::under_way) {
      end(handshake_.trouble());
      return false;
    }
    const auto got = receive_some(handle(), handshake_.room());
    if (got.gone)
      end(handshake_.meaning_of_close());
    else if (got.bytes == 0)
      return false;
    else
      handshake_.commit(got.bytes);
  }
  return false;
}

/// @returns whether all bytes of the handshake are written
bool token_stream::send_words() {
  const auto words = handshake_.unsent();
  if (words.empty())
    return true;
  const auto sent = send_some(handle(), std::array{words});
  if (sent.gone)
    end(handshake_.meaning_of_close());
  handshake_.sent(sent.bytes);
  return sent.bytes == words.size();
}

void token_stream::end(std::string_view why) {
  gone_ = true;
  trouble_ = why;
}

} // namespace gossamer::actors::detail
