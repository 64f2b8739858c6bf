#include "gossamer/actors/data_plane/detail/memory_stream.hpp"

#include <array>
#include <asio/post.hpp>
#include <cerrno>
#include <unistd.h>

namespace gossamer::actors::detail {

memory_stream::memory_stream(std::shared_ptr<stream> before, std::unique_ptr<shared_memory> memory, side whose,
                             memory_watch& watch)
    : before_(std::move(before)), memory_(std::move(memory)), in_(memory_->in()), out_(memory_->out()),
      calls_(before_->socket().get_executor(), memory_->take_calls().release()), watch_(watch),
      still_before_(whose == side::opened ? 0 : hello_bytes) {
  if (whose == side::opened)
    memory_->was_found();
  watch_.add(*this);
  listen();
}

memory_stream::~memory_stream() {
  watch_.drop(*this);
  reader_->then = nullptr;
}

/// Waits for a call. It may come at any time, also when the reader does not wait: then it has come for bytes, or for
/// room, that were found meanwhile.
void memory_stream::listen() {
  reader_->is_called = false;
  calls_.async_wait(asio::posix::stream_descriptor::wait_read, [reader = reader_](asio::error_code) {
    reader->is_called = true;
    reader->go_on();
  });
}

void memory_stream::wait_to_read(waiter then) { reader_->then = std::move(then); }

bool memory_stream::look() {
  const bool is_ready = reader_->then && in_.has_bytes();
  if (is_ready)
    reader_->go_on();
  return is_ready;
}

void memory_stream::ask_for_call() {
  if (reader_->then && !in_.wait_for_bytes())
    asio::post(calls_.get_executor(), [reader = reader_] { reader->go_on(); });
}

void memory_stream::wait_to_write(waiter then) {
  if (still_before_ > 0)
    return before_->wait_to_write(std::move(then));
  asio::post(calls_.get_executor(), std::move(then));
}

transfer memory_stream::read_some(std::span<std::byte> to) {
  const auto got = in_.read(to);
  if (!got)
    return distrust();
  if (in_.must_wake_writer())
    memory_->call();
  const bool over = *got < to.size() && reader_->is_called && !hear();
  return {.bytes = *got, .gone = *got == 0 && over};
}

/// Reads the calls that have come, when the ring is empty. @returns whether more may come
bool memory_stream::hear() {
  std::array<std::byte, 64> calls;
  const auto heard = ::read(calls_.native_handle(), calls.data(), calls.size());
  if (heard == 0 || (heard < 0 && errno != EAGAIN && errno != EINTR))
    return false;
  listen();
  return true;
}

transfer memory_stream::write_some(pieces what) {
  if (still_before_ > 0)
    return write_before(what);
  const auto taken = write_to_memory(what);
  if (!taken)
    return distrust();
  if (out_.must_wake_reader())
    memory_->call();
  if (*taken == 0 && !what.empty() && !out_.wait_for_room())
    return write_some(what);
  return {.bytes = *taken};
}

transfer memory_stream::write_before(pieces what) {
  const auto first =
      what.empty() ? std::span<const std::byte>{} : what.front().first(std::min(what.front().size(), still_before_));
  const auto sent = before_->write_some(std::array{first});
  still_before_ -= sent.bytes;
  return sent;
}

std::optional<std::size_t> memory_stream::write_to_memory(pieces what) {
  std::size_t taken = 0;
  for (const auto piece : what) {
    const auto now = out_.write(piece);
    if (!now)
      return std::nullopt;
    taken += *now;
    if (*now < piece.size())
      break;
  }
  return taken;
}

transfer memory_stream::distrust() {
  trouble_ = "counts bytes that cannot be";
  return {.gone = true};
}

} // namespace gossamer::actors::detail
