#pragma once

#include "gossamer/base/buffer.hpp"

#include <cstdint>
#include <span>

namespace gossamer::compress {

/// A vector in compressed form: what codecs make and what links carry.
///
/// Inside one process a packet travels as it is, sharing its payload. When it leaves the process it is written as a
/// 32-byte header and the payload (docs/wire-format.md), guarded by a checksum.
struct packet {
  std::uint8_t codec = 0;      ///< wire number of the codec that made it
  std::uint8_t parameter = 0;  ///< codec-specific, e.g. the bits of `uniform`
  std::uint64_t elements = 0;  ///< dimension of the vector that was encoded
  std::uint64_t bits = 0;      ///< information in the payload, before padding to whole bytes: what papers count
  buffer payload;              ///< ceil(bits / 8) bytes, unused high bits of the last byte zero

  /// Size of the written form, header included.
  std::size_t wire_bytes() const noexcept;
};

inline constexpr std::size_t packet_header_bytes = 32;

/// Writes header and payload. @returns `wire_bytes()` bytes from the payload's pool.
buffer write(const packet& p);

/// Reads a packet that `write` made. Never trusts the bytes: nothing is allocated before the sizes agree.
/// @error errc::bad_packet on a wrong magic number or version, sizes that contradict each other, or a bad checksum;
///        says which
packet read(buffer_pool& pool, std::span<const std::byte> bytes);

} // namespace gossamer::compress
