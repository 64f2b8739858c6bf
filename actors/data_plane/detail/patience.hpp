#pragma once

#include "gossamer/actors/data_plane/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace gossamer::actors::detail {

// What the doors and connections of frames and those of the tunnel have in common.

inline constexpr std::size_t most_guests = 64;                             ///< at a door, that have not been let in
inline constexpr std::chrono::milliseconds pause_without_descriptors{100}; ///< before a door accepts again
inline constexpr std::chrono::milliseconds longest_connect{5000};          ///< the system doubles its pauses meanwhile
inline constexpr std::chrono::milliseconds pause_between_attempts{100};
inline constexpr std::chrono::milliseconds longest_pause{1000};      ///< of those that double
inline constexpr std::chrono::milliseconds pause_between_signs{500}; ///< of life, on a lane that has nothing to carry

inline constexpr std::chrono::milliseconds least_silence{2000}; ///< of the other machine, before a stream is broken

/// Of a guest, until it has introduced itself: some round trips, which a user with a slow network allows for.
constexpr std::chrono::milliseconds longest_hello(std::chrono::milliseconds patience) noexcept {
  return std::max(std::chrono::milliseconds{2000}, patience / 2);
}
/// To connect and be let in.
constexpr std::chrono::milliseconds longest_attempt(std::chrono::milliseconds patience) noexcept {
  return std::max(std::chrono::milliseconds{5000}, patience);
}
/// Until a lane ends of whose peer nothing is heard: as long as TCP would repeat itself. The peer may have stood still,
/// or have been cut off, and takes part again.
inline constexpr std::chrono::minutes longest_absence{15};

/// Without a sign of life, at the end that has accepted a lane.
constexpr std::chrono::milliseconds longest_mute(std::chrono::milliseconds patience) noexcept {
  return std::max(std::chrono::milliseconds{3000}, patience / 2);
}

} // namespace gossamer::actors::detail
