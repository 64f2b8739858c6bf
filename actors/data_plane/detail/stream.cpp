#include "gossamer/actors/data_plane/detail/stream.hpp"

#include "gossamer/actors/data_plane/detail/tls_stream.hpp"

namespace gossamer::actors::detail {

namespace {

class plain_stream final : public socket_stream {
public:
  using socket_stream::socket_stream;

  transfer read_some(std::span<std::byte> to) override { return receive_some(handle(), to); }
  transfer write_some(pieces what) override {
    if (what.empty())
      return {};
    auto sent = send_some(handle(), what);
    sent.waits = sent.bytes == 0;
    return sent;
  }
};

} // namespace

void socket_stream::wait_to_read(waiter then) {
  socket_.async_wait(tcp::socket::wait_read, [then = std::move(then)](asio::error_code) { then(); });
}

void socket_stream::wait_to_write(waiter then) {
  socket_.async_wait(tcp::socket::wait_write, [then = std::move(then)](asio::error_code) { then(); });
}

std::unique_ptr<stream> accepting_stream(asio::ip::tcp::socket s, const std::shared_ptr<const tls_identity>& identity) {
  if (!identity)
    return std::make_unique<plain_stream>(std::move(s));
  return std::make_unique<tls_stream>(std::move(s), identity);
}

std::unique_ptr<stream> opening_stream(asio::ip::tcp::socket s, const std::shared_ptr<const tls_identity>& identity,
                                       const std::string& host) {
  if (!identity)
    return std::make_unique<plain_stream>(std::move(s));
  return std::make_unique<tls_stream>(std::move(s), identity, host);
}

} // namespace gossamer::actors::detail
