#include "gossamer/actors/data_plane/detail/doorway.hpp"

#include "gossamer/actors/data_plane/detail/listening.hpp"
#include "gossamer/actors/data_plane/detail/patience.hpp"
#include "gossamer/actors/data_plane/detail/sockets.hpp"

namespace gossamer::actors::detail {

doorway::doorway(asio::io_context& io, const endpoint& where, std::uint64_t run, std::chrono::milliseconds patience,
                 maker streams)
    : io_(io), where_(where), run_(run), patience_(patience), streams_(std::move(streams)),
      acceptor_(listen_at(io, where)), pause_(io) {
  where_.port = acceptor_.local_endpoint().port();
  begin_unpaced(acceptor_.native_handle());
}

void doorway::open(welcome in) {
  in_ = std::move(in);
  accept();
}

void doorway::close() {
  pause_.cancel();
  acceptor_.close();
  guests_.clear();
}

void doorway::accept() {
  acceptor_.async_accept([this](asio::error_code e, tcp::socket s) {
    if (!acceptor_.is_open())
      return;
    if (e) // no descriptors are left, or the guest is gone already
      return pause_.set(pause_without_descriptors, [this] { accept(); });
    try {
      enter(std::move(s));
    } catch (const std::exception&) { // ends this guest only
    }
    accept();
  });
}

void doorway::enter(tcp::socket s) {
  if (guests_.size() >= most_guests) // a peer has introduced itself before so many others have come
    guests_.pop_front();
  asio::error_code ignored; // a failure is harmless: all calls ask not to block
  s.native_non_blocking(true, ignored);
  const auto g = std::make_shared<guest>(io_, streams_(std::move(s)));
  g->patience.set(longest_hello(patience_),
                  [this, g = g.get()] { guests_.remove_if([g](const auto& other) { return other.get() == g; }); });
  listen_to(g);
  guests_.push_back(g); // last: without patience it would stay
}

void doorway::listen_to(const std::shared_ptr<guest>& g) {
  g->bytes->wait_to_read([this, waiting = std::weak_ptr{g}] {
    if (const auto still_here = waiting.lock())
      try {
        hear(still_here);
      } catch (const std::exception&) { // ends this guest only
        guests_.remove(still_here);
      }
  });
}

void doorway::hear(const std::shared_ptr<guest>& g) {
  const auto got = g->bytes->read_some(std::span{g->said}.subspan(g->said_bytes));
  g->said_bytes += got.bytes;
  if (!got.gone && g->said_bytes < g->said.size())
    return listen_to(g);
  guests_.remove(g);
  const auto said = read_hello(g->said);
  if (!got.gone && said && said->run == run_)
    in_(std::move(g->bytes), *said);
}

} // namespace gossamer::actors::detail
