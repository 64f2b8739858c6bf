#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer::actors::detail {

/// Result of one system call.
struct transfer {
  std::size_t bytes = 0;
  bool gone = false;   ///< the connection has ended, by either side and for any reason
  bool broken = false; ///< besides, no end has closed it: it was reset, or timed out
  bool waits = false;  ///< of a `stream`: more can be written when the socket is ready for it
};

/// Moves as many bytes as possible at once, in one system call; 0 if the socket is not ready.
transfer receive_some(int socket, std::span<std::byte> to) noexcept;
/// @param pieces 256 at most
transfer send_some(int socket, std::span<const std::span<const std::byte>> pieces) noexcept;

/// For a socket that will connect or listen: keeps BBR away until `tune` knows whether both ends are on one machine.
/// A connection that begins with BBR is paced by timers for good, also when it goes on with Reno.
void begin_unpaced(int socket) noexcept;
/// Sets the options of connections that carry frames, once they are connected; skips those that the system does not
/// know.
/// @param patience data without an answer for this long ends the connection, also where the peer's machine answers that
/// its process reads nothing
void tune(int socket, std::chrono::milliseconds patience) noexcept;
/// What the other machine has not acknowledged. Its process may read nothing all the while.
struct unanswered {
  std::uint32_t repeats =
      0; ///< times the oldest of the data were sent, or asked about, again; 0: the system tells none
  std::chrono::milliseconds last_answer{}; ///< time since the last answer of any kind
  std::chrono::microseconds round_trip{};  ///< smoothed
};
unanswered unanswered_on(int socket) noexcept;
/// Makes closing reset the connection, and drop all bytes under way.
void make_abrupt(int socket) noexcept;

} // namespace gossamer::actors::detail
