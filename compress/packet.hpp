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
  std::uint8_t codec = 0;     ///< wire number of the codec that made it
  std::uint8_t parameter = 0; ///< codec-specific, e.g. the bits of `uniform`
  std::uint64_t elements = 0; ///< dimension of the vector that was encoded
  std::uint64_t bits = 0;     ///< information in the payload, before padding to whole bytes: what papers count
  buffer payload;             ///< ceil(bits / 8) bytes, unused high bits of the last byte zero
  /// What a receiver needs to draw the sender's random choices again (key and step of the stream, and what the codec
  /// adds); at most 255 words. Not information about the vector, so it does not count as payload.
  std::vector<std::uint64_t> recipe = {};

  /// Size of the written form, header included.
  std::size_t wire_bytes() const noexcept;
};

/// Of the written form, see docs/wire-format.md.
inline constexpr std::uint8_t packet_version = 2;

/// ceil(bits / 8), without overflow.
constexpr std::uint64_t whole_bytes(std::uint64_t bits) noexcept { return bits / 8 + (bits % 8 != 0); }

/// Bytes that no codec made, as its payload: wire number 0, of no vector.
packet opaque(std::span<const std::byte> bytes, buffer_pool pool);

/// @returns `wire_bytes()` bytes from the payload's pool.
buffer write(const packet& p);
/// Writes into `wire_bytes()` bytes.
/// @param prefix a hash of what stands before the packet and is to be guarded by the same checksum; 0: nothing
void write(const packet& p, std::byte* to, std::uint64_t prefix);
/// What tells a reader of damage on the way.
enum class guard : std::uint8_t {
  checksum, ///< of the packet itself
  carrier,  ///< whatever carries it: memory that both ends see, or a connection under TLS
};
/// Writes what stands before the payload, `wire_bytes()` less the payload's: who can send both from where they are
/// need not copy the payload.
/// @returns the place behind it
std::byte* write_head(const packet& p, std::byte* to, std::uint64_t prefix, guard by = guard::checksum);

/// 16 GiB of floats.
inline constexpr std::uint64_t packet_most_elements = std::uint64_t{1} << 32;

/// Reads a packet that `write` made. Never trusts the bytes: nothing is allocated before the sizes
/// agree. That the codec exists and that the payload suits it is checked by `decode`.
/// @param most_elements the largest vector that the caller is ready to decode. A packet that says "zero" in 20 bytes
///        stands for a vector of any size, so whoever knows the dimension of the model should give it here.
/// @param prefix as `write` had it
/// @error errc::bad_packet on a wrong version, sizes that contradict each other, a bad checksum, bits set in the
///        padding, or too many elements; says which
packet read(buffer_pool& pool, std::span<const std::byte> bytes, std::uint64_t most_elements = packet_most_elements,
            std::uint64_t prefix = 0);

/// A packet whose head has been read; its payload is still to come, to where it stays.
struct arriving_packet {
  packet content;             ///< with a payload of the right size
  std::uint32_t checksum = 0; ///< 0: there is none
};

/// Of what stands before a payload.
inline constexpr std::size_t longest_head = 8 + 2 * 10 + 255 * sizeof(std::uint64_t);

/// Does what `read` does until the payload is needed. Takes packets without a checksum, too: for bytes that a carrier
/// may guard.
/// @param bytes the packet as far as it is there: at least `longest_head` bytes, or all; what it takes is gone after it
/// @param size of the whole packet
arriving_packet read_head(buffer_pool& pool, std::span<const std::byte>& bytes, std::uint64_t size,
                          std::uint64_t most_elements = packet_most_elements);
/// The payload has come: does the rest of what `read` does.
packet complete(arriving_packet p, std::uint64_t prefix = 0);

} // namespace gossamer::compress
