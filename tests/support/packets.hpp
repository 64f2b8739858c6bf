#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compress/coder.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>
#include <xxhash.h>

namespace gossamer::test {

/// Returns the bytes with a checksum that fits them, as a faulty or hostile peer could send them. Written from
/// docs/wire-format.md, independently of the library.
/// @param before bytes of a frame's header in front of the packet
inline std::vector<std::byte> resealed(std::vector<std::byte> bytes, std::size_t before = 0) {
  if (bytes.size() >= before + 8) {
    const auto packet = bytes.data() + before;
    const auto prefix = before > 0 ? XXH3_64bits(bytes.data(), before) : 0;
    const auto seed = XXH3_64bits_withSeed(packet, 4, prefix);
    const auto checksum = XXH3_64bits_withSeed(packet + 8, bytes.size() - before - 8, seed);
    std::memcpy(packet + 4, &checksum, 4);
  }
  return bytes;
}

/// True if this ends with errc::bad_packet. Another error ends the process.
template <class Action>
bool refuses(Action read) {
  try {
    read();
    return false;
  } catch (const error& e) {
    GOSSAMER_ASSERT(e.code() == errc::bad_packet, "damaged bytes are a bad packet");
    return true;
  }
}

/// Checks the law for any bytes: they are refused as a bad packet, or they are a packet that decodes to as many
/// elements as it says, in both ways, and that is written back as the same bytes. Ends the process if the law is
/// broken.
/// @returns true if they were accepted
inline bool survives(std::span<const std::byte> bytes) {
  constexpr std::uint64_t most_elements = 1u << 16;
  buffer_pool pool;
  compress::packet p;
  if (refuses([&] { p = compress::read(pool, bytes, most_elements); }))
    return false;
  const auto again = compress::write(p);
  GOSSAMER_ASSERT(std::ranges::equal(again.bytes(), bytes), "a packet has one written form");

  std::vector<float> written(p.elements);
  const bool is_bad = refuses([&] { compress::coder{}.decode_into(written, p); });
  vec v;
  GOSSAMER_ASSERT(refuses([&] { v = compress::decode(p); }) == is_bad, "both ways to decode refuse the same packets");
  if (is_bad)
    return false;
  GOSSAMER_ASSERT(v.size() == p.elements && v.size() <= most_elements, "a packet decodes to what it declares");
  GOSSAMER_ASSERT(std::ranges::equal(std::as_bytes(std::span{written}), v.storage().bytes()),
                  "both ways to decode give the same bits");
  return true;
}

} // namespace gossamer::test
