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

/// Sets the options of connections that carry frames; skips those that the system does not know.
/// @param patience data without an answer for this long ends the connection, also where the peer's machine answers that
/// its process reads nothing
void tune(int socket, std::chrono::milliseconds patience) noexcept;
/// True if data were sent again, and the peer's machine has answered nothing for this long. False where the system does
/// not tell. TCP doubles its pauses: a network that was cut off would seem so for up to twice the time.
bool is_unanswered(int socket, std::chrono::milliseconds longest) noexcept;
/// Makes closing reset the connection, and drop all bytes under way.
void make_abrupt(int socket) noexcept;

} // namespace gossamer::actors::detail
