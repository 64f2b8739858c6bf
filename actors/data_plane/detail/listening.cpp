#include "gossamer/actors/data_plane/detail/listening.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

error cannot_listen(const endpoint& where, const asio::error_code& e) {
  const bool taken = e == asio::error::address_in_use;
  return {
      errc::io, fmt::format("cannot listen on {}: {}", to_string(where), taken ? "the port is in use" : e.message()),
      taken ? "give another port, or 0 for any that is free" : "give an address of this machine, or 0.0.0.0 for all"};
}

} // namespace

asio::ip::tcp::acceptor listen_at(asio::io_context& io, const endpoint& where) {
  asio::ip::tcp::acceptor result{io};
  asio::error_code e;
  const auto found = asio::ip::tcp::resolver{io}.resolve(
      where.host, std::to_string(where.port),
      asio::ip::tcp::resolver::passive | asio::ip::tcp::resolver::numeric_service, e);
  if (e || found.empty())
    throw cannot_listen(where, e);
  const auto address = found.begin()->endpoint();
  result.open(address.protocol(), e);
  if (!e)
    result.set_option(asio::ip::tcp::acceptor::reuse_address(true), e);
  if (!e)
    result.bind(address, e);
  if (!e)
    result.listen(asio::socket_base::max_listen_connections, e);
  if (e)
    throw cannot_listen(where, e);
  return result;
}

} // namespace gossamer::actors::detail
