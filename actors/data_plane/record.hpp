#pragma once

#include "gossamer/actors/frames/transport.hpp"

#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace gossamer::actors {

/// The kinds of records behind the hellos of a connection: `u32 bytes of the body, u8 kind, body`
/// (docs/wire-format.md). The numbers are part of the wire format.
enum class record_kind : std::uint8_t {
  chunk = 1,           ///< part of a frame; numbered, kept until it is acknowledged
  acknowledgement = 2, ///< u64: number of chunks that have arrived
  refusal = 3,         ///< u8 code, sentence: the last record of a connection
};

/// Frames are cut, so that a small one never waits behind a whole model. Payloads are often a quarter of a mebibyte,
/// half a slice; such a frame is one chunk with its heads.
inline constexpr std::uint64_t largest_chunk = (std::uint64_t{256} << 10) + (std::uint64_t{4} << 10);

inline constexpr std::size_t record_head_bytes = 5;

/// The frame of a chunk, and the part of it that is still to come.
struct chunk_head {
  rank source = 0;
  life to;
  std::uint64_t left = 0; ///< bytes of the frame from the chunk's first on

  friend bool operator==(const chunk_head&, const chunk_head&) = default;
};
inline constexpr std::size_t chunk_head_bytes = 20;

/// Numbers on the wire are little-endian, like every machine that Gossamer runs on.
template <class T>
std::byte* put_number(std::byte* to, T n) noexcept {
  std::memcpy(to, &n, sizeof n);
  return to + sizeof n;
}
template <class T>
T take_number(std::span<const std::byte>& bytes) noexcept {
  T n;
  std::memcpy(&n, bytes.data(), sizeof n);
  bytes = bytes.subspan(sizeof n);
  return n;
}

inline std::byte* put_record_head(std::byte* to, std::uint64_t body_bytes, record_kind kind) noexcept {
  return put_number(put_number(to, static_cast<std::uint32_t>(body_bytes)), static_cast<std::uint8_t>(kind));
}

using chunk_record_head = std::array<std::byte, record_head_bytes + chunk_head_bytes>;

/// @param bytes of the frame that follow
inline chunk_record_head write_chunk_head(const chunk_head& c, std::uint64_t bytes) noexcept {
  chunk_record_head result;
  auto end = put_record_head(result.data(), chunk_head_bytes + bytes, record_kind::chunk);
  end = put_number(put_number(put_number(end, c.source), c.to.who), c.to.incarnation);
  put_number(end, c.left);
  return result;
}
/// @param bytes `chunk_head_bytes` of them
inline chunk_head read_chunk_head(std::span<const std::byte> bytes) noexcept {
  chunk_head c;
  c.source = take_number<std::uint32_t>(bytes);
  c.to.who = take_number<std::uint32_t>(bytes);
  c.to.incarnation = take_number<std::uint32_t>(bytes);
  c.left = take_number<std::uint64_t>(bytes);
  return c;
}

inline std::vector<std::byte> acknowledgement_record(std::uint64_t received) {
  std::vector<std::byte> result(record_head_bytes + sizeof received);
  put_number(put_record_head(result.data(), sizeof received, record_kind::acknowledgement), received);
  return result;
}

} // namespace gossamer::actors
