#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gossamer::actors {

/// Of hellos and records, see docs/wire-format.md.
inline constexpr std::uint32_t connection_version = 2;

/// Where memory is to be found that both ends of a connection could see: a file that a process has open.
struct memory_place {
  std::uint32_t process = 0; ///< 0: there is none
  std::uint32_t file = 0;

  friend bool operator==(const memory_place&, const memory_place&) = default;
};

/// What both ends of a connection say first. Its layout stays the same in all versions, so that each can tell the other
/// which one it speaks.
struct hello {
  std::uint32_t version = connection_version;
  std::uint64_t run = 0;         ///< drawn for each run: who does not know it is a stranger
  std::uint64_t fingerprint = 0; ///< of what both must agree on, see `fingerprint_of`
  std::uint64_t received = 0;    ///< chunks that have arrived over all connections from this peer so far
  std::uint32_t node = 0;        ///< who speaks
  std::uint32_t incarnation = 0; ///< in which life
  std::uint32_t meant_node = 0;  ///< to whom
  std::uint32_t meant_incarnation = 0;
  /// Offered by who opens the connection; repeated by the other when it sees that memory: then all that follows goes
  /// through it, in both directions.
  memory_place memory = {};

  friend bool operator==(const hello&, const hello&) = default;
};

inline constexpr std::size_t hello_bytes = 64;
using written_hello = std::array<std::byte, hello_bytes>;

written_hello write(const hello& h) noexcept;
/// @returns nothing when the bytes are no hello of any version, or damaged
std::optional<hello> read_hello(std::span<const std::byte, hello_bytes> bytes) noexcept;

/// What a refusal means to the one who is refused. The numbers are part of the wire format.
enum class refusal_code : std::uint8_t {
  incompatible = 1, ///< we can never work together
  not_here = 2,     ///< one of us has news that the other has not heard yet: try again
  nonsense = 3,     ///< what you sent broke the rules
};

/// Why a node does not want a connection: for both sides to print.
struct refusal {
  refusal_code code = refusal_code::incompatible;
  std::string sentence; ///< printable; `write` cuts it to `longest_refusal` bytes

  friend bool operator==(const refusal&, const refusal&) = default;
};
inline constexpr std::size_t longest_refusal = 512;

/// As a record.
std::vector<std::byte> write(const refusal& r);
/// @param body of the record. @returns nothing when it is no refusal
std::optional<refusal> read_refusal(std::span<const std::byte> body);

/// Why two nodes cannot be connected: what differs, and both values. Both ends come to the
/// same sentence.
std::optional<refusal> objection(const hello& mine, const hello& theirs);

} // namespace gossamer::actors
