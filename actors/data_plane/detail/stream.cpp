#include "gossamer/actors/data_plane/detail/stream.hpp"

#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/data_plane/detail/tls_stream.hpp"
#include "gossamer/actors/data_plane/detail/token_stream.hpp"

#include <algorithm>

namespace gossamer::actors::detail {

namespace {

class plain_stream final : public socket_stream {
public:
  using socket_stream::socket_stream;

  transfer read_some(std::span<std::byte> to) override { return receive_from_socket(to); }
  transfer write_some(pieces what) override { return send_to_socket(what); }
};

} // namespace

void socket_stream::wait_to_read(waiter then) {
  socket_.async_wait(tcp::socket::wait_read, [then = std::move(then)](asio::error_code) { then(); });
}

void socket_stream::wait_to_write(waiter then) {
  socket_.async_wait(tcp::socket::wait_write, [then = std::move(then)](asio::error_code) { then(); });
}

transfer socket_stream::receive_from_socket(std::span<std::byte> to) {
  return to.empty() ? transfer{} : receive_some(handle(), to);
}

transfer socket_stream::send_to_socket(pieces what) {
  if (std::ranges::all_of(what, [](auto piece) { return piece.empty(); }))
    return {};
  auto sent = send_some(handle(), what);
  sent.waits = sent.bytes == 0;
  return sent;
}

std::unique_ptr<stream> accepting_stream(asio::ip::tcp::socket s, const credentials& shown) {
  if (shown.identity)
    return std::make_unique<tls_stream>(std::move(s), shown.identity);
  if (shown.token)
    return std::make_unique<token_stream>(std::move(s), *shown.token, token_handshake::role::accepts);
  return std::make_unique<plain_stream>(std::move(s));
}

std::unique_ptr<stream> opening_stream(asio::ip::tcp::socket s, const credentials& shown, const std::string& host) {
  if (shown.identity)
    return std::make_unique<tls_stream>(std::move(s), shown.identity, host);
  if (shown.token)
    return std::make_unique<token_stream>(std::move(s), *shown.token, token_handshake::role::opens);
  return std::make_unique<plain_stream>(std::move(s));
}

} // namespace gossamer::actors::detail
