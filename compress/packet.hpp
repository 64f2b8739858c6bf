#pragma once

#include "gossamer/base/buffer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gossamer::compress {

/// A vector in compressed form: what codecs make and what links carry.
///
/// Inside one process a packet travels as it is, sharing its payload. When it leaves the process it is written as a
/// header of 10 to 28 bytes, the recipe and the payload (docs/wire-format.md), guarded by a checksum.
struct packet {
  std::uint8_t codec = 0;     ///< wire number of the codec that made the packet
  std::uint8_t parameter = 0; ///< codec-specific, e.g. the bits of `uniform`
  std::uint64_t elements = 0; ///< dimension of the vector that was encoded
  std::uint64_t bits = 0;     ///< information in the payload, before padding to whole bytes: the size that papers count
  buffer payload;             ///< ceil(bits / 8) bytes, unused high bits of the last byte zero
  /// Words from which a receiver draws the sender's random choices again (key and step of the stream, and additions of
  /// the codec); at most 255. They carry no information about the vector, so they do not count as payload.
  std::vector<std::uint64_t> recipe = {};

  /// Size of the written form, header included.
  std::size_t wire_bytes() const noexcept;
};

/// Version of the written form (docs/wire-format.md).
inline constexpr std::uint8_t packet_version = 2;

/// ceil(bits / 8), without overflow.
constexpr std::uint64_t whole_bytes(std::uint64_t bits) noexcept { return bits / 8 + (bits % 8 != 0); }

/// Returns a packet with these bytes as its payload and no vector: wire number 0, made by no codec.
packet opaque(std::span<const std::byte> bytes, buffer_pool pool);

/// @returns `wire_bytes()` bytes from the payload's pool.
buffer write(const packet& p);
/// Writes into `wire_bytes()` bytes.
/// @param prefix a hash of the bytes before the packet, which the same checksum then guards; 0: none
void write(const packet& p, std::byte* to, std::uint64_t prefix);
/// Detection of damage on the way.
enum class guard : std::uint8_t {
  checksum, ///< the packet's own checksum
  carrier,  ///< the carrier: memory that both ends see, or a connection under TLS
};
/// Writes the part before the payload, `wire_bytes()` less the payload's. A sender that can send the two parts from
/// where they are need not copy the payload.
/// @returns the place behind it
std::byte* write_head(const packet& p, std::byte* to, std::uint64_t prefix, guard by = guard::checksum);

/// 16 GiB of floats.
inline constexpr std::uint64_t packet_most_elements = std::uint64_t{1} << 32;

/// Reads a packet that `write` made. Never trusts the bytes: nothing is allocated before the sizes agree. `decode`
/// checks that the codec exists and that the payload suits it.
/// @param most_elements the largest vector that the caller is ready to decode. A packet that says "zero" in 20 bytes
///        stands for a vector of any size, so a caller that knows the dimension of the model should give it here.
/// @param prefix as `write` had it
/// @error errc::bad_packet on a wrong version, sizes that contradict each other, a bad checksum, bits set in the
///        padding, or too many elements; says which
packet read(buffer_pool& pool, std::span<const std::byte> bytes, std::uint64_t most_elements = packet_most_elements,
            std::uint64_t prefix = 0);

/// A packet whose head has been read and whose payload is still to come. The payload arrives directly in its final
/// memory.
struct arriving_packet {
  packet content;             ///< with a payload of the right size
  std::uint32_t checksum = 0; ///< 0: there is none
};

/// The most bytes before a payload.
inline constexpr std::size_t longest_head = 8 + 2 * 10 + 255 * sizeof(std::uint64_t);

/// Does the part of `read` that needs no payload. Takes packets without a checksum, too: a carrier may guard their
/// bytes.
/// @param bytes the packet as far as it has arrived: at least `longest_head` bytes, or all; the head is removed from it
/// @param size bytes of the whole packet
arriving_packet read_head(buffer_pool& pool, std::span<const std::byte>& bytes, std::uint64_t size,
                          std::uint64_t most_elements = packet_most_elements);
/// Does the rest of `read` when the payload has come.
packet complete(arriving_packet p, std::uint64_t prefix = 0);

} // namespace gossamer::compress
