#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gossamer::actors {

/// Version of hellos and records, see docs/wire-format.md.
inline constexpr std::uint32_t connection_version = 3;

/// The place of memory that both ends of a connection might share: an open file of a process.
struct memory_place {
  std::uint32_t process = 0; ///< 0: no such memory
  std::uint32_t file = 0;

  friend bool operator==(const memory_place&, const memory_place&) = default;
};

/// The first bytes that each end of a connection sends. The layout is the same in all versions, so that each end can
/// tell the peer which version it speaks.
struct hello {
  std::uint32_t version = connection_version;
  std::uint64_t run = 0;         ///< random number of the run: a stranger does not know it
  std::uint64_t fingerprint = 0; ///< of the settings that both must agree on, see `fingerprint_of`
  std::uint64_t received = 0;    ///< chunks that have arrived over all connections from this peer so far
  std::uint32_t node = 0;        ///< the sender
  std::uint32_t life = 0;        ///< the sender's life
  std::uint32_t meant_node = 0;  ///< the receiver
  std::uint32_t meant_life = 0;
  /// The opening end offers memory here; the accepting end repeats it if it sees that memory. All later bytes then go
  /// through it, in both directions.
  memory_place memory = {};

  friend bool operator==(const hello&, const hello&) = default;
};

inline constexpr std::size_t hello_bytes = 64;
using written_hello = std::array<std::byte, hello_bytes>;

written_hello write(const hello& h) noexcept;
/// @returns `nullopt` if the bytes are no hello of any version, or damaged
std::optional<hello> read_hello(std::span<const std::byte, hello_bytes> bytes) noexcept;

/// The meaning of a refusal to the refused node. The numbers are part of the wire format.
enum class refusal_code : std::uint8_t {
  incompatible = 1, ///< the nodes can never work together
  not_here = 2,     ///< one node has news that the other has not heard yet: try again
  nonsense = 3,     ///< the refused node's bytes broke the rules
};

/// The reason why a node does not want a connection, for both sides to print.
struct refusal {
  refusal_code code = refusal_code::incompatible;
  std::string sentence; ///< printable; `write` cuts it to `longest_refusal` bytes

  friend bool operator==(const refusal&, const refusal&) = default;
};
inline constexpr std::size_t longest_refusal = 512;

/// The refusal as a record.
std::vector<std::byte> write(const refusal& r);
/// @param body of the record. @returns `nullopt` if it is no refusal
std::optional<refusal> read_refusal(std::span<const std::byte> body);

/// The reason why two nodes cannot be connected: the difference, with both values. Both ends reach the same sentence.
std::optional<refusal> objection(const hello& mine, const hello& theirs);

} // namespace gossamer::actors
