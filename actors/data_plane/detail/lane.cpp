#include "gossamer/actors/data_plane/detail/lane.hpp"

#include "gossamer/actors/data_plane/detail/patience.hpp"
#include "gossamer/actors/data_plane/detail/sockets.hpp"
#include "gossamer/base/entropy.hpp"

#include <asio/post.hpp>
#include <cstring>
#include <sys/socket.h>
#include <tuple>
#include <unistd.h>

namespace gossamer::actors::detail {

namespace {

constexpr int moves_a_turn = 32; // before other lanes have their turn
enum wait_for : std::size_t { far_read, far_write, near_read, near_write, turn };

lane_id new_id() {
  lane_id id{};
  const std::array words{secret_number(), secret_number()};
  static_assert(sizeof words == sizeof id);
  std::memcpy(id.data(), words.data(), sizeof id);
  return id;
}

} // namespace

lane::lane(asio::io_context& io, std::unique_ptr<stream> far, std::uint64_t most_message, owner whose)
    : io_(io), far_(std::move(far)), near_(io), patience_(io), look_(io), guard_(most_message),
      owner_(std::move(whose)), session_(opens() ? new_id() : lane_id{}) {}

void lane::expect(std::chrono::milliseconds patience) {
  patience_.set(patience, [this] { give_up("does not answer"); });
}

void lane::begin() {
  asio::error_code ignored; // a failure is harmless: all calls ask not to block
  far_->socket().native_non_blocking(true, ignored);
  far_->socket().set_option(stream::tcp::no_delay(true), ignored);
  is_guest() && !has_begun_ ? wait_to_read() : advance();
}

void lane::resume(std::unique_ptr<stream> far, const std::optional<lane_hello>& theirs) {
  if (ended_)
    return;
  session_.lost();
  far_ = std::move(far); // whatever the former one has come to, the peer has given it up
  come_.hold(0);
  hello_come_ = 0;
  has_begun_ = greeted_ = far_gone_ = broken_ = far_waits_ = false;
  if (!theirs || hear(*theirs))
    begin();
}

void lane::tell_door(std::uint16_t door) {
  if (!opens())
    return;
  session_.tell_door(door);
  if (is_open()) // else the socket may not be connected yet
    advance();
}

void lane::end(const std::string& why) { close({.why = why, .is_refused = far_ && far_->is_refused()}); }

void lane::give_up(const std::string& why) { close({.why = why, .is_silence = true}); }

void lane::close(const ending& how) {
  if (std::exchange(ended_, true))
    return;
  patience_.cancel();
  look_.cancel();
  const auto self = shared_from_this(); // keeps the lane until the end of this function
  owner_.ended(how);
  asio::error_code ignored;
  if (far_)
    far_->socket().close(ignored);
  // A process that was forked from this one holds a copy, with which the end of this one alone would tell nothing.
  near_.shutdown(asio::socket_base::shutdown_both, ignored);
  near_.close(ignored);
}

/// The stream is gone.
void lane::part() {
  const auto why = far_->trouble();
  const bool may_return = is_open() && !near_gone_ && !session_.peer_has_finished() && !far_->is_refused();
  const bool was_closed = !broken_ && why.empty();
  if (!may_return || (was_closed && !opens()))
    return end(why);
  session_.lost();
  make_abrupt(far_->socket().native_handle()); // an end that came late would tell that the process has ended
  asio::error_code ignored;
  far_->socket().close(ignored);
  far_.reset();
  const bool is_first_attempt = std::exchange(greeted_, false);
  if (is_first_attempt)
    patience_.set(is_silence_ ? longest_absence : owner_.longest_break,
                  [this] { give_up("has not been reached again"); });
  if (opens())
    owner_.connect_again(is_first_attempt);
  else if (is_first_attempt && session_.peer_door() != 0)
    owner_.look_for_peer({peer_, session_.peer_door()});
}

void lane::advance() {
  if (ended_ || is_apart() || (!greeted_ && !greet()) || (!is_open() && !open()))
    return;
  bool more = true;
  for (int k = 0; k < moves_a_turn && more && !ended_; ++k)
    more = move();
  if (ended_)
    return;
  if (session_.peer_has_finished() && in_.empty())
    return end(far_->trouble());
  if (far_gone_ && in_.empty() && come_.empty())
    return part();
  if (session_.has_finished() && !patience_.is_set()) // the peer closes: to close here would drop what is under way
    patience_.set(longest_flush, [this] { end(""); });
  if (more)
    return wait(turn, [this](auto then) { asio::post(io_, then); });
  wait_for_more();
}

// -- the beginning of a stream ----------------------------------------------------------------------------------------

/// @returns whether both sides have shown their credentials, and introduced themselves
bool lane::greet() {
  bool more = true;
  while (more && !far_gone_ && hello_come_ < hello_.size()) {
    const auto got = far_->read_some(std::span{hello_}.subspan(hello_come_)); // of credentials first, if there are any
    note(got);
    hello_come_ += got.bytes;
    more = got.bytes > 0;
    if (opens() && far_->is_established() && !std::exchange(has_begun_, true))
      session_.begin();
    if (has_begun_)
      more = send() || more;
  }
  if (hello_come_ < hello_.size()) {
    if (far_gone_)
      return part(), false;
    wait_to_read();
    wait_to_write();
    return false;
  }
  const auto theirs = read_lane_hello(hello_);
  if (!theirs)
    return end("does not speak this version of the control connections"), false;
  return hear(*theirs);
}

/// @returns false if this lane ends, or another one goes on
bool lane::hear(const lane_hello& theirs) {
  if (!opens() && !is_open()) {
    if (const auto known = owner_.find(theirs.id)) {
      known->resume(std::move(far_), theirs);
      return end(""), false;
    }
    session_ = lane_session{theirs.goes_on ? lane_id{} : theirs.id}; // the lane of another process ends by that
  }
  if (!std::exchange(has_begun_, true))
    session_.begin();
  if (!session_.hear(theirs)) {
    send();
    return end("is not the process to which the connection was"), false;
  }
  greeted_ = true;
  is_silence_ = false;
  silence_ = {};
  heard_ = asio::steady_timer::clock_type::now();
  asio::error_code gone;
  if (const auto from = far_->socket().remote_endpoint(gone); !gone)
    peer_ = from.address();
  if (is_open())
    patience_.cancel();
  return true;
}

/// @returns whether the pair of sockets exists
bool lane::open() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return close({.why = "cannot be carried: no descriptors are left", .is_lack = true}), false;
  near_.assign(asio::local::stream_protocol{}, ends[0]);
  patience_.cancel();
  owner_.opened(ends[1]);
  watch();
  return true;
}

/// A reset may be told to the other end alone, and then this one, which must connect again, learns of it when it sends.
void lane::watch() {
  look_.set(pause_between_signs, [this, alive = weak_from_this()] {
    const auto self = alive.lock(); // keeps the lane while it ends
    if (!self)
      return;
    if (!is_apart()) {
      if (opens() && !has_sent_)
        session_.give_sign();
      advance();
      has_sent_ = false; // since the sign
    }
    if (!ended_ && !is_apart() && is_silent()) {
      far_gone_ = broken_ = is_silence_ = true;
      advance();
    }
    if (!ended_)
      watch();
  });
}

/// The end that has opened the lane hears of data without an answer. The other may have none, but is given signs.
bool lane::is_silent() {
  const auto now = asio::steady_timer::clock_type::now();
  if (opens())
    return silence_.is_over_with(unanswered_on(far_->socket().native_handle()), now);
  return greeted_ && come_.empty() && in_.empty() && now - heard_ > longest_mute(owner_.longest_break);
}

// -- bytes ------------------------------------------------------------------------------------------------------------

/// @returns whether bytes have moved
bool lane::move() {
  const auto before = std::tuple{come_.left().size(), in_.left().size()};
  receive();
  if (ended_)
    return false;
  hand_in();
  take_out();
  const bool sent = send();
  return sent || before != std::tuple{come_.left().size(), in_.left().size()};
}

void lane::receive() {
  if (come_.empty() && !far_gone_) {
    const auto got = far_->read_some(std::span{come_.bytes});
    come_.hold(got.bytes);
    if (got.bytes > 0)
      heard_ = asio::steady_timer::clock_type::now();
    note(got);
  }
  if (!in_.empty())
    return;
  auto records = come_.left();
  in_.hold(session_.take(records, in_.bytes));
  come_.begin = come_.end - records.size();
  if (const auto fault = session_.objection() ? session_.objection() : guard_.objection(in_.left()))
    end(*fault);
}

void lane::hand_in() {
  if (in_.empty())
    return;
  const auto sent = send_some(near_.native_handle(), std::array{in_.left()});
  in_.begin =
      sent.gone ? in_.end : in_.begin + sent.bytes; // where no reader is left, its last words may still be there
}

void lane::take_out() {
  if (near_gone_ || !session_.has_room())
    return;
  std::array<std::byte, 16 << 10> bytes;
  const auto got = receive_some(near_.native_handle(), bytes);
  session_.push(std::span{bytes}.first(got.bytes));
  near_gone_ = got.gone;
  if (near_gone_)
    session_.finish();
}

void lane::note(const transfer& t) noexcept {
  far_gone_ = far_gone_ || t.gone;
  broken_ = broken_ || t.broken;
}

/// @returns whether bytes have moved
bool lane::send() {
  const auto next = session_.gather();
  const auto sent = far_->write_some(next);
  session_.wrote(sent.bytes);
  note(sent);
  has_sent_ = has_sent_ || sent.bytes > 0;
  far_waits_ = sent.waits && !sent.gone;
  return sent.bytes > 0;
}

// -- waiting ----------------------------------------------------------------------------------------------------------

void lane::wait(std::size_t which, std::function<void(std::function<void()>)> how) {
  if (std::exchange(waits_[which], true))
    return;
  how([this, which, waiting = weak_from_this()] {
    if (const auto still_here = waiting.lock()) {
      waits_[which] = false;
      advance();
    }
  });
}

void lane::wait_to_read() {
  wait(far_read, [this](auto then) { far_->wait_to_read(then); });
}

void lane::wait_to_write() {
  if (far_waits_)
    wait(far_write, [this](auto then) { far_->wait_to_write(then); });
}

void lane::wait_for_more() {
  using local = asio::local::stream_protocol::socket;
  const auto on_near = [this](auto what) {
    return [this, what](auto then) { near_.async_wait(what, [then](asio::error_code) { then(); }); };
  };
  if (!in_.empty())
    wait(near_write, on_near(local::wait_write));
  else if (far_->has_unread())
    wait(turn, [this](auto then) { asio::post(io_, then); });
  else
    wait_to_read();
  wait_to_write();
  if (!near_gone_ && session_.has_room())
    wait(near_read, on_near(local::wait_read));
}

} // namespace gossamer::actors::detail
