#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gossamer {

/// Rare paths of protocols that some test has to take. A test that stops taking one would else be green for nothing.
enum class mark : std::uint8_t {
  inherited_proposal, ///< a new leader proposes again what its predecessor had begun: failover in the middle of a
                      ///< change
  second_candidate,   ///< a leader that asks is refused, because a voter has promised another one to listen to it
  lost_models,        ///< a quorum has answered, and none of it has a model
  shunned_frame,      ///< a frame of an incarnation that is over is dropped
  frame_of_stranger,  ///< a frame comes before the view that makes its sender known
  early_state,        ///< the state of another worker comes before the view that promises it
  count
};

namespace detail {
inline std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(mark::count)> passes{};
} // namespace detail

/// Counts a pass through a rare path. Threads: safe; a relaxed addition.
inline void pass(mark m) noexcept {
  detail::passes[static_cast<std::size_t>(m)].fetch_add(1, std::memory_order_relaxed);
}

/// Returns how often this process has taken the path.
inline std::uint64_t passes(mark m) noexcept { return detail::passes[static_cast<std::size_t>(m)].load(); }

} // namespace gossamer
