#pragma once

#include "gossamer/actors/data_plane/detail/alarm.hpp"
#include "gossamer/actors/data_plane/detail/stream.hpp"
#include "gossamer/actors/data_plane/hello.hpp"
#include "gossamer/actors/frames/endpoint.hpp"

#include <asio/ip/tcp.hpp>
#include <list>

namespace gossamer::actors::detail {

/// Listens, and reads the hello of each connecting process. Strangers cost little: at most 64 at once, half of
/// the patience each or two seconds, and the bytes of a hello; the oldest goes when another comes. A stranger that does
/// not know the run gets no answer, and one without the required credentials is not heard. A failure, for want of
/// memory, ends one guest only. Threads: that of its context.
class doorway {
public:
  using tcp = asio::ip::tcp;
  using maker = std::function<std::unique_ptr<stream>(tcp::socket)>;
  using welcome = std::function<void(std::unique_ptr<stream>, const hello&)>;

  /// Listens at once. @error errc::io
  /// @param streams makes the stream of a connection, which asks for credentials
  doorway(asio::io_context& io, const endpoint& where, std::uint64_t run, std::chrono::milliseconds patience,
          maker streams);

  endpoint listens_on() const { return where_; }
  /// @param in gets the connection of each peer that knows the run
  void open(welcome in);
  void close();

private:
  struct guest {
    guest(asio::io_context& io, std::unique_ptr<stream> s) : bytes(std::move(s)), patience(io) {}
    std::unique_ptr<stream> bytes;
    alarm patience;
    written_hello said{};
    std::size_t said_bytes = 0;
  };

  void accept();
  void enter(tcp::socket s);
  void listen_to(const std::shared_ptr<guest>& g);
  void hear(const std::shared_ptr<guest>& g);

  asio::io_context& io_;
  endpoint where_;
  std::uint64_t run_;
  std::chrono::milliseconds patience_;
  maker streams_;
  tcp::acceptor acceptor_;
  alarm pause_;
  welcome in_;
  std::list<std::shared_ptr<guest>> guests_;
};

} // namespace gossamer::actors::detail
