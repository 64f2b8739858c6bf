#pragma once

#include "gossamer/actors/runtime/frame.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/packets.hpp"

namespace gossamer::test {

/// The bytes with the checksums that fit them, of the frame's header and of its packet. Written from
/// docs/wire-format.md, independently of the library.
inline std::vector<std::byte> resealed_frame(std::vector<std::byte> bytes) {
  if (bytes.size() < 40)
    return bytes;
  const auto checksum = XXH3_64bits(bytes.data(), 32);
  std::memcpy(bytes.data() + 32, &checksum, sizeof checksum);
  const auto body = resealed({bytes.begin() + 40, bytes.end()});
  std::ranges::copy(body, bytes.begin() + 40);
  return bytes;
}

/// What must hold for any bytes whatsoever: they are refused as a bad packet, or they are a frame that is written back
/// as the same bytes. Ends the process otherwise.
/// @returns whether they were accepted
inline bool survives_as_frame(std::span<const std::byte> bytes) {
  constexpr std::uint64_t most_elements = 1u << 16;
  buffer_pool pool;
  try {
    const auto f = actors::read_frame(pool, bytes, most_elements);
    const auto again = actors::write(pool, f);
    GOSSAMER_ASSERT(std::ranges::equal(again.bytes(), bytes), "a frame has one written form");
    GOSSAMER_ASSERT(f.wire_bytes() == bytes.size(), "a frame knows its size");
    GOSSAMER_ASSERT(to_string(f.label.kind) != "unknown", "only known kinds are read");
    GOSSAMER_ASSERT(f.body.elements <= most_elements, "no more elements than allowed");
    return true;
  } catch (const error& e) {
    GOSSAMER_ASSERT(e.code() == errc::bad_packet, "damaged bytes are a bad packet");
    return false;
  }
}

} // namespace gossamer::test
