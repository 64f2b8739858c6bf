#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gossamer::actors {

/// Most bytes of a control message of a run. The parts that grow with the run stay below 2 KiB a participant each: a
/// resolution, with a node for each participant and two host names of at most 253 bytes for each node; a proposal, with
/// two resolutions; the plan, with one resolution and the leader's ledger; a manifest of parts. The parts that do not
/// grow are an offer with a plan of faults, of which 16 MiB are read at most, and the settings.
constexpr std::uint64_t most_control_bytes(std::uint64_t participants) noexcept {
  return (std::uint64_t{17} << 20) + (participants << 11);
}

/// The limit before the run is known.
inline constexpr std::uint64_t most_control_bytes_of_any_run = most_control_bytes(65'536);

/// Checks one connection of CAF (its BASP, version 3), message by message, since CAF allocates whatever size a header
/// announces. No byte of a message may be handed on before its header has been admitted. Keeps no bytes but those of
/// one header. Threads: one.
class control_guard {
public:
  static constexpr std::size_t header_bytes = 32;

  /// @param most bytes that a message may have behind its header
  explicit control_guard(std::uint64_t most) : most_(most) {}

  /// Takes all bytes of the connection, in order. @returns the fault of the bytes, worded to follow the name of the
  /// peer; the connection must not go on after it
  std::optional<std::string> objection(std::span<const std::byte> next);

private:
  std::optional<std::string> judge_header() const;
  std::uint32_t length() const;

  std::uint64_t most_;
  std::array<std::byte, header_bytes> header_{};
  std::size_t heard_ = 0;  ///< bytes of the header so far
  std::uint64_t left_ = 0; ///< bytes still to come behind the header
};

} // namespace gossamer::actors
