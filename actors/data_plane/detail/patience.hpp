#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace gossamer::actors::detail {

// What the doors and connections of frames and those of the tunnel have in common.

inline constexpr std::size_t most_guests = 64;                             ///< at a door, that have not been let in
inline constexpr std::chrono::milliseconds pause_without_descriptors{100}; ///< before a door accepts again
inline constexpr std::chrono::milliseconds longest_hello{2000};   ///< of a guest, until it has introduced itself
inline constexpr std::chrono::milliseconds longest_attempt{5000}; ///< to connect and be let in
inline constexpr std::chrono::milliseconds pause_between_attempts{100};
inline constexpr std::chrono::milliseconds pause_between_signs{500}; ///< of life, on a lane that has nothing to carry
inline constexpr std::chrono::milliseconds longest_flush{1000};      ///< of what is left to send at the end

/// Before another connection is tried: a part of the patience, so that a network that was cut off for most of that is
/// found again, and no less than a slow network needs. (TCP doubles its pauses, and may need as long as the cut again.)
constexpr std::chrono::milliseconds longest_silence(std::chrono::milliseconds patience) noexcept {
  return std::max(std::chrono::milliseconds{2000}, patience / 4);
}

} // namespace gossamer::actors::detail
