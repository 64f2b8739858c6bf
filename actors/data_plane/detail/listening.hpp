#pragma once

#include "gossamer/actors/frames/endpoint.hpp"

#include <asio/ip/tcp.hpp>

namespace gossamer::actors::detail {

/// Listens at once. @error errc::io with the reason if it cannot listen there
asio::ip::tcp::acceptor listen_at(asio::io_context& io, const endpoint& where);

} // namespace gossamer::actors::detail
