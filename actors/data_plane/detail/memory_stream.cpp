#include "gossamer/actors/data_plane/detail/memory_stream.hpp"

#include <array>

namespace gossamer::actors::detail {

memory_stream::memory_stream(std::shared_ptr<stream> before, std::unique_ptr<shared_memory> memory, side whose)
    : before_(std::move(before)), memory_(std::move(memory)),
      in_(whose == side::opened ? memory_->to_opener() : memory_->from_opener()),
      out_(whose == side::opened ? memory_->from_opener() : memory_->to_opener()),
      still_before_(whose == side::opened ? 0 : hello_bytes) {}

transfer memory_stream::read_some(std::span<std::byte> to) {
  const auto got = in_.read(to);
  if (!got)
    return distrust();
  if (in_.must_wake_writer())
    wake();
  if (*got > 0)
    return {.bytes = *got};
  std::array<std::byte, 64> calls;
  return {.gone = receive_some(socket().native_handle(), calls).gone};
}

transfer memory_stream::write_some(pieces what) {
  if (still_before_ > 0)
    return write_before(what);
  const auto taken = write_to_memory(what);
  if (!taken)
    return distrust();
  if (out_.must_wake_reader())
    wake();
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

/// When the connection takes no more such bytes, enough are under way.
void memory_stream::wake() {
  static constexpr std::byte call{};
  send_some(socket().native_handle(), std::array{std::span{&call, 1}});
}

transfer memory_stream::distrust() {
  trouble_ = "counts bytes that cannot be";
  return {.gone = true};
}

} // namespace gossamer::actors::detail
