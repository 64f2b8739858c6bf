#pragma once

#include "gossamer/actors/data_plane/session.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gossamer::actors::test {

/// Returns a frame without meaning. Its step is `number`, from which its bytes are drawn.
inline frame numbered_frame(buffer_pool& pool, rank source, std::uint64_t number, std::size_t bytes) {
  frame f{.source = source, .label = {frame_kind::model, number}, .body = {}};
  f.body.payload = pool.allocate(bytes);
  f.body.bits = 8 * bytes;
  const auto seed = static_cast<unsigned>(number * 31 + source);
  for (std::size_t i = 0; i < bytes; ++i)
    f.body.payload.data()[i] = static_cast<std::byte>(seed + i * 7 + (i >> 8));
  return f;
}

inline bool is_intact(buffer_pool& pool, const frame& f) {
  const auto expected = numbered_frame(pool, f.source, f.label.step, f.body.payload.size());
  return std::ranges::equal(expected.body.payload.bytes(), f.body.payload.bytes());
}

inline std::shared_ptr<const outgoing_frame> outgoing(buffer_pool& pool, life to, const frame& f) {
  return std::make_shared<const outgoing_frame>(outgoing_frame{f.source, to, write_head(pool, f), f.body.payload});
}

inline std::vector<std::byte> joined(std::span<const outbox::bytes_view> pieces) {
  std::vector<std::byte> result;
  for (const auto piece : pieces)
    result.insert(result.end(), piece.begin(), piece.end());
  return result;
}

/// Gives an intake or a session all bytes, in pieces of the size of its room.
template <class Reader>
void feed(Reader& reader, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto room = reader.room();
    const auto now = std::min(room.size(), bytes.size());
    std::ranges::copy(bytes.first(now), room.begin());
    reader.commit(now);
    bytes = bytes.subspan(now);
  }
}

/// Returns CAF's header for a control message of `length` bytes.
inline std::vector<std::byte> control_header(std::uint32_t length, std::uint8_t operation = 2) {
  std::vector<std::byte> result(32);
  result[0] = std::byte{operation};
  for (std::size_t k = 0; k < 4; ++k)
    result[4 + k] = static_cast<std::byte>(length >> (24 - 8 * k));
  return result;
}

/// Returns the sentence of the error that an action ends with.
template <class Action>
std::string refusal_of(Action action, errc code = errc::bad_packet) {
  try {
    action();
  } catch (const error& e) {
    return e.code() == code ? e.sentence() : "another code: " + e.sentence();
  }
  return "accepted";
}

} // namespace gossamer::actors::test
