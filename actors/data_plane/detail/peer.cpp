#include "gossamer/actors/data_plane/detail/peer.hpp"

#include "gossamer/actors/data_plane/detail/patience.hpp"
#include "gossamer/actors/data_plane/detail/sockets.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <asio/post.hpp>

namespace gossamer::actors::detail {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds first_backoff = 10ms, longest_backoff = 1000ms;
constexpr auto acknowledgement_delay = 50ms;
constexpr std::uint64_t bytes_a_turn = 2 << 20; // before other peers have their turn

} // namespace

peer::peer(const surroundings& around, std::uint32_t node, const node_address& address)
    : around_(around), node_(node), address_(address), ranks_(std::make_shared<std::set<rank>>()),
      backoff_(first_backoff), resolver_(around.io), attempt_(around.io), retry_(around.io), patience_(around.io),
      look_(around.io), acknowledgement_(around.io) {
  meet(address);
  talk_ = std::make_unique<session>(
      mine(), around_.setup.most, around_.setup.pool,
      intake::owner{[ranks = ranks_](rank source) { return ranks->contains(source); },
                    [this](life to, frame f) { around_.in.deliver(node_, to, std::move(f)); }});
}

std::string peer::name() const { return fmt::format("node {} at {}", node_, to_string(address_.where)); }

hello peer::mine() const {
  const auto& setup = around_.setup;
  return {.run = setup.run,
          .fingerprint = setup.fingerprint,
          .node = setup.node,
          .life = setup.life,
          .meant_node = node_,
          .meant_life = address_.life};
}

void peer::meet(const node_address& address) {
  address_ = address;
  ranks_->insert(address.ranks.begin(), address.ranks.end());
}

void peer::push(std::shared_ptr<const outgoing_frame> f) {
  if (!given_up_)
    talk_->push(std::move(f));
}

void peer::carry_on() {
  if (given_up_)
    return;
  if (wire_ && talk_->now() != session::phase::apart)
    guarded([this] { write(); });
  else if (!wire_ && !retry_.is_set() && talk_->has_frames())
    guarded([this] { connect(); }); // which TLS may refuse
}

/// Runs an action, and gives up this peer alone if it fails.
template <class Action>
void peer::guarded(Action action) {
  try {
    action();
  } catch (const std::exception& e) {
    give_up({refusal_code::nonsense, fmt::format("{} is given up: {}", name(), e.what())});
  }
}

void peer::connect() {
  wire_ = std::make_shared<wire>(opening_stream(tcp::socket{around_.io}, around_.setup.shows, address_.where.host));
  give_it(longest_attempt(around_.setup.patience));
  if (!patience_.is_set() && !is_overdue_)
    complain_in_time();
  asio::error_code e;
  if (const auto numeric = asio::ip::make_address(address_.where.host, e); !e)
    return connect_to({tcp::endpoint{numeric, address_.where.port}});
  resolver_.async_resolve(
      address_.where.host, std::to_string(address_.where.port),
      [this, trying = std::weak_ptr{wire_}](asio::error_code failure, const tcp::resolver::results_type& found) {
        if (trying.expired())
          return;
        if (failure)
          return trouble("has a name that is not known: " + failure.message());
        connect_to({found.begin(), found.end()});
      });
}

/// Bounds the time of the present attempt, from now on.
void peer::give_it(std::chrono::milliseconds time) {
  attempt_.set(time, [this] { trouble("does not answer"); });
}

/// A peer that is cut off may come back, and finds the session as it was.
void peer::complain_in_time() {
  arrived_ = talk_->arrived();
  patience_.set(around_.setup.patience, [this] {
    is_overdue_ = true;
    if (talk_->now() != session::phase::open)
      complain();
  });
}

void peer::complain() {
  is_overdue_ = false;
  is_out_of_reach_ = true;
  around_.setup.complain(node_,
                         fmt::format("{} could not be reached for {} ms: it {}", name(), around_.setup.patience.count(),
                                     last_trouble_.empty() ? "does not answer" : last_trouble_));
  around_.settled();
  complain_in_time();
}

/// Tries them in turn. asio::async_connect does, too, but opens sockets where their options cannot be set in time.
void peer::connect_to(std::vector<tcp::endpoint> where, std::size_t next) {
  if (next == 0)
    give_it(longest_connect); // for all of them together
  auto& socket = wire_->bytes->socket();
  const auto to = where.at(next);
  asio::error_code ignored; // of a socket that cannot be opened: neither can it connect
  socket.close(ignored);
  socket.open(to.protocol(), ignored);
  begin_unpaced(socket.native_handle());
  socket.async_connect(to, [this, trying = std::weak_ptr{wire_}, kept = wire_->bytes, where = std::move(where),
                            next = next + 1](asio::error_code e) mutable {
    if (trying.expired())
      return;
    if (e && next < where.size())
      return connect_to(std::move(where), next);
    if (e) {
      is_out_of_reach_ |= finishes_ && e == asio::error::connection_refused; // its process is over
      return trouble("cannot be connected to: " + e.message());
    }
    connected();
  });
}

void peer::connected() {
  guarded([&] {
    auto& socket = wire_->bytes->socket();
    socket.native_non_blocking(true);
    tune(socket.native_handle(), around_.setup.patience);
    give_it(longest_attempt(around_.setup.patience));
    wire_->offered = may_share_memory() ? shared_memory::make() : nullptr;
    talk_->begin(wire_->offered ? wire_->offered->place() : memory_place{});
    if (wire_->offered)
      wire_->offered->belongs_to(talk_->own_hello());
    watch({});
    wait_to_read();
    write();
  });
}

bool peer::may_share_memory() {
  asio::error_code e; // of a connection that is gone already
  const auto& socket = wire_->bytes->socket();
  return around_.setup.share_memory && socket.local_endpoint(e).address() == socket.remote_endpoint(e).address() && !e;
}

void peer::go_on_in_memory(std::unique_ptr<shared_memory> memory, memory_stream::side whose) {
  wire_->bytes = std::make_shared<memory_stream>(wire_->bytes, std::move(memory), whose, around_.rings);
}

void peer::accept(std::unique_ptr<stream> s, const hello& theirs) {
  const auto objected = given_up_ ? given_up_ : objection(mine(), theirs);
  if (objected) {
    const auto words = farewell(mine(), *objected);
    s->write_some(std::array{std::span<const std::byte>{words}});
    if (!given_up_ && objected->code == refusal_code::incompatible && theirs.life == address_.life)
      give_up(*objected);
    return;
  }
  // If both nodes open a connection at once, that of the smaller node stays. Its hello is on the way.
  if (talk_->now() == session::phase::greeting && around_.setup.node < node_)
    return;
  talk_->lost();
  retry_.cancel();
  attempt_.cancel();
  wire_ = std::make_shared<wire>(std::move(s));
  guarded([&] {
    tune(wire_->bytes->socket().native_handle(), around_.setup.patience);
    auto memory = may_share_memory() ? shared_memory::of(theirs) : nullptr;
    talk_->answer(theirs, memory ? theirs.memory : memory_place{});
    if (memory)
      go_on_in_memory(std::move(memory), memory_stream::side::accepted);
  });
  if (!wire_)
    return;
  around_.guards(wire_->bytes->guards());
  guarded([this] {
    if (talk_->ended())
      return closing_words();
    watch({});
    wait_to_read();
    write();
  });
}

/// Breaks a connection on which nothing is answered: another finds sooner that the network is back.
void peer::watch(silence so_far) {
  look_.set(pause_between_signs, [this, so_far]() mutable {
    const auto found = unanswered_on(wire_->bytes->socket().native_handle());
    so_far.is_over_with(found, asio::steady_timer::clock_type::now()) ? break_connection("answers nothing")
                                                                      : watch(so_far);
  });
}

void peer::wait_to_read() {
  if (!wire_ || std::exchange(wire_->waits_to_read, true))
    return;
  const auto ready = [this, on = std::weak_ptr{wire_}] {
    if (const auto still_here = on.lock()) {
      still_here->waits_to_read = false;
      guarded([this] { read(); });
    }
  };
  if (wire_->bytes->has_unread())
    asio::post(around_.io, ready);
  else
    wire_->bytes->wait_to_read(ready);
}

void peer::wait_to_write() {
  if (std::exchange(wire_->waits_to_write, true))
    return;
  wire_->bytes->wait_to_write([this, on = std::weak_ptr{wire_}] {
    if (const auto still_here = on.lock()) {
      still_here->waits_to_write = false;
      guarded([this] { write(); });
    }
  });
}

void peer::read() {
  for (std::uint64_t bytes = 0; bytes < bytes_a_turn;) {
    const auto room = talk_->room();
    const auto got = wire_->bytes->read_some(room);
    if (got.gone)
      return connection_gone();
    if (got.bytes == 0)
      break;
    bytes += got.bytes;
    const auto before = talk_->now();
    talk_->commit(got.bytes);
    if (talk_->ended())
      return closing_words();
    heard(before);
    if (got.bytes < room.size()) // another read seldom finds more, and costs more than a wait that ends at once
      break;
  }
  if (talk_->owes_acknowledgement() && !acknowledgement_.is_set())
    acknowledgement_.set(acknowledgement_delay, [this] { acknowledge(); });
  wait_to_read();
  write();
  around_.settled();
}

/// Notes progress after a hello, which proves little alone: a refusal may follow.
void peer::heard(session::phase before) {
  if (talk_->now() != session::phase::open)
    return;
  attempt_.cancel();
  if (auto memory = std::move(wire_->offered); memory && talk_->shares_memory())
    go_on_in_memory(std::move(memory), memory_stream::side::opened);
  has_been_heard_ = true;
  if (before == session::phase::greeting)
    return around_.guards(wire_->bytes->guards());
  if (talk_->has_frames() && talk_->arrived() == arrived_)
    return; // a path may carry what is short, as all that the peer says, and nothing that is long
  patience_.cancel();
  is_overdue_ = is_out_of_reach_ = false;
  backoff_ = first_backoff;
  last_trouble_.clear();
}

void peer::write() {
  for (std::uint64_t bytes = 0; wire_;) {
    const auto sent = wire_->bytes->write_some(talk_->gather());
    if (sent.gone)
      return connection_gone();
    talk_->wrote(sent.bytes);
    bytes += sent.bytes;
    if (sent.waits || bytes >= bytes_a_turn)
      return wait_to_write();
    if (sent.bytes == 0) // all bytes are written, or the peer's part of the handshake comes first
      return;
  }
}

void peer::acknowledge() {
  if (given_up_ || !talk_->owes_acknowledgement())
    return;
  talk_->acknowledge();
  guarded([this] { write(); });
  if (!given_up_ && talk_->owes_acknowledgement())
    acknowledgement_.set(acknowledgement_delay, [this] { acknowledge(); });
}

void peer::finish() {
  finishes_ = true;
  acknowledge();
  retry_.cancel();
  carry_on();
}

void peer::connection_gone() {
  if (const auto why = wire_->bytes->trouble(); !why.empty())
    trouble(why);
  else
    trouble(talk_->now() == session::phase::greeting && !has_been_heard_
                ? "closes connections without a word, as a node of another run does"
                : "closed the connection");
}

void peer::closing_words() {
  wire_->bytes->write_some(talk_->gather());
  const auto end = *talk_->ended();
  if (end.is_final)
    give_up(end.why);
  else
    trouble("refuses: " + end.why.sentence);
}

void peer::break_connection(const std::string& why) {
  if (!wire_)
    return;
  make_abrupt(wire_->bytes->socket().native_handle());
  trouble(why);
}

/// Ends the connection, or the attempt at one.
void peer::trouble(const std::string& what) {
  wire_.reset();
  around_.guards(compress::guard::checksum);
  resolver_.cancel();
  attempt_.cancel();
  look_.cancel();
  acknowledgement_.cancel();
  talk_->lost();
  last_trouble_ = what;
  if (talk_->has_frames()) {
    if (is_overdue_)
      complain();
    retry_.set(std::exchange(backoff_, std::min(2 * backoff_, longest_backoff)), [this] { carry_on(); });
  } else {
    patience_.cancel();
    is_overdue_ = false;
  }
  around_.settled();
}

void peer::give_up(const refusal& why) {
  if (given_up_)
    return;
  wire_.reset();
  for (auto* a : {&attempt_, &retry_, &patience_, &look_, &acknowledgement_})
    a->cancel();
  given_up_ = why;
  talk_.reset();
  around_.setup.complain(node_, why.sentence);
  around_.settled();
}

} // namespace gossamer::actors::detail
