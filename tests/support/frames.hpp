#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <vector>

#include "support/packets.hpp"

namespace gossamer::test {

/// Returns the bytes with a checksum that fits them. Written from docs/wire-format.md, independently of the library.
inline std::vector<std::byte> resealed_frame(std::vector<std::byte> bytes) {
  std::size_t before = 1;
  for (int numbers = 6; numbers > 0 && before < bytes.size(); ++before)
    numbers -= std::to_integer<unsigned>(bytes[before]) < 0x80;
  return resealed(std::move(bytes), before);
}

/// Checks the law for any bytes: they are refused as a bad packet, or they are a frame that is written back as the same
/// bytes. Ends the process if the law is broken.
/// @returns true if they were accepted
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
