#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gossamer::actors {

/// The most bytes that a control message of a run has. What grows with the run: a resolution, with a node for each
/// participant and two names of hosts for each node, of 253 bytes at most; a proposal, which has two of them; the plan,
/// which has one and the leader's books; a manifest of parts. Each of them stays below 2 KiB a participant. What does
/// not: an offer with a plan of faults, of which 16 MiB are read at most, and the settings.
constexpr std::uint64_t most_control_bytes(std::uint64_t participants) noexcept {
  return (std::uint64_t{17} << 20) + (participants << 11);
}

/// The same of a run that is not known yet.
inline constexpr std::uint64_t most_control_bytes_of_any_run = most_control_bytes(65'536);

/// Follows the bytes of one connection of CAF (its BASP, version 3), message by message: CAF allocates what a header
/// says is coming, whatever that is. Nothing of a message may be handed on before its header has been admitted. It
/// keeps no bytes but those of one header. Threads: one.
class control_guard {
public:
  static constexpr std::size_t header_bytes = 32;

  /// @param most bytes that a message may have behind its header
  explicit control_guard(std::uint64_t most) : most_(most) {}

  /// To be told all bytes, in order. @returns what is wrong with them, to stand behind the name of the peer; from then
  /// on the connection must not go on
  std::optional<std::string> objection(std::span<const std::byte> next);

private:
  std::optional<std::string> judge_header() const;
  std::uint32_t length() const;

  std::uint64_t most_;
  std::array<std::byte, header_bytes> header_{};
  std::size_t heard_ = 0;  ///< bytes of the header
  std::uint64_t left_ = 0; ///< bytes behind it
};

} // namespace gossamer::actors
