#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <chrono>

namespace gossamer::actors {

/// Of what is left to send at the end.
inline constexpr std::chrono::milliseconds longest_flush{1000};

/// Limits on the bytes of a peer, so that no peer can make the data plane allocate without bound. They end at the
/// workers, which keep frames out of turn (`channel`), and of lives that they have not heard of (`connections`).
struct limits {
  std::uint64_t most_elements = compress::packet_most_elements; ///< of a frame's packet
  std::uint64_t most_frame_bytes = std::uint64_t{1} << 36;      ///< of one frame, with its headers
  std::uint64_t most_half_frames = 64;                          ///< unfinished frames of one peer
  std::uint64_t most_waiting_frames = 4096; ///< of one peer, for incarnations that are not attached yet
  std::uint64_t most_waiting_bytes = std::uint64_t{1} << 36;
};

/// Limits for a model of this size. The largest frame is a state: 64 vectors, enough for an adaptive optimiser and what
/// an algorithm keeps besides, and 1 MiB.
/// @param estimates vectors more, one for each neighbour that a worker may have
constexpr limits limits_for(std::uint64_t elements, std::uint64_t estimates = 0) noexcept {
  const std::uint64_t most_frame_bytes = (std::uint64_t{1} << 20) + (64 + estimates) * sizeof(float) * elements;
  return {.most_elements = elements, .most_frame_bytes = most_frame_bytes, .most_waiting_bytes = 4 * most_frame_bytes};
}

} // namespace gossamer::actors
