#include "gossamer/actors/data_plane/detail/lane.hpp"

#include <asio/post.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace gossamer::actors::detail {

namespace {

constexpr int moves_a_turn = 32; // before other lanes have their turn
enum wait_for : std::size_t { far_read, far_write, near_read, near_write, turn };

} // namespace

void lane::expect(std::chrono::milliseconds patience) {
  patience_.set(patience, [this] { end("does not answer"); });
}

void lane::begin() {
  asio::error_code ignored; // a failure is harmless: all calls ask not to block
  far_->socket().native_non_blocking(true, ignored);
  far_->socket().set_option(stream::tcp::no_delay(true), ignored);
  advance();
}

void lane::end(const std::string& why) {
  if (std::exchange(ended_, true))
    return;
  patience_.cancel();
  const auto self = shared_from_this(); // keeps the lane until the end of this function
  owner_.ended(why, far_->is_refused());
  asio::error_code ignored;
  far_->socket().close(ignored);
  near_.close(ignored);
}

void lane::advance() {
  if (ended_ || (!near_.is_open() && !open()))
    return;
  bool more = true;
  for (int k = 0; k < moves_a_turn && more && !ended_; ++k)
    more = move();
  if (ended_)
    return;
  if ((far_gone_ && in_.empty()) || (near_gone_ && out_.empty() && !far_waits_))
    return end(far_->trouble());
  if (more)
    return wait(turn, [this](auto then) { asio::post(io_, then); });
  wait_for_more();
}

/// @returns whether both sides have shown their credentials, and the pair of sockets exists
bool lane::open() {
  const bool gone = far_->read_some({}).gone;
  if (gone || !far_->is_established()) {
    if (gone)
      end(far_->trouble());
    else
      wait(far_read, [this](auto then) {
        far_->socket().async_wait(stream::tcp::socket::wait_read, [then](asio::error_code) { then(); });
      });
    return false;
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return end("cannot be carried: no descriptors are left"), false;
  near_.assign(asio::local::stream_protocol{}, ends[0]);
  patience_.cancel();
  owner_.opened(ends[1]);
  return true;
}

/// @returns whether bytes have come that may go on
bool lane::take_in() {
  if (!in_.fill([this](auto to) { return far_->read_some(to); }, far_gone_))
    return false;
  const auto objection = guard_.objection(in_.left());
  if (objection)
    end(*objection);
  return !objection;
}

/// @returns whether bytes have moved
bool lane::move() {
  bool moved = take_in();
  if (ended_)
    return false;
  const int near = near_.native_handle();
  if (!in_.empty()) {
    const auto sent = send_some(near, std::array{in_.left()});
    in_.begin = sent.gone ? in_.end : in_.begin + sent.bytes; // no local reader is left
    near_gone_ = near_gone_ || sent.gone;
    moved = moved || sent.bytes > 0;
  }
  moved = out_.fill([near](auto to) { return receive_some(near, to); }, near_gone_) || moved;
  const auto sent = far_->write_some(std::array{out_.left()});
  far_gone_ = far_gone_ || sent.gone;
  far_waits_ = sent.waits;
  out_.begin += sent.bytes;
  return moved || sent.bytes > 0;
}

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

void lane::wait_for_more() {
  using tcp = stream::tcp::socket;
  using local = asio::local::stream_protocol::socket;
  const auto on = [](auto& socket, auto what) {
    return [&socket, what](auto then) { socket.async_wait(what, [then](asio::error_code) { then(); }); };
  };
  if (!in_.empty())
    wait(near_write, on(near_, local::wait_write));
  else if (far_->has_unread())
    wait(turn, [this](auto then) { asio::post(io_, then); });
  else
    wait(far_read, on(far_->socket(), tcp::wait_read));
  if (far_waits_)
    wait(far_write, on(far_->socket(), tcp::wait_write));
  if (out_.empty() && !near_gone_)
    wait(near_read, on(near_, local::wait_read));
}

} // namespace gossamer::actors::detail
