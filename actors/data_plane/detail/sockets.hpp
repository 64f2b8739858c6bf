#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer::actors::detail {

/// What one system call has moved. `gone`: the connection is, whoever ended it and however.
struct transfer {
  std::size_t bytes = 0;
  bool gone = false;
  bool waits = false; ///< of a `stream`: more can be written when the socket is ready for it
};

/// Moves what can be moved at once, in one system call; none when the socket is not ready.
transfer receive_some(int socket, std::span<std::byte> to) noexcept;
/// @param pieces 256 at most
transfer send_some(int socket, std::span<const std::span<const std::byte>> pieces) noexcept;

/// Sets what connections between nodes need; what the system does not know is left out.
/// @param patience after which data that is not answered ends the connection
void tune(int socket, std::chrono::milliseconds patience) noexcept;
/// Closing will reset the connection, and drop what is under way.
void make_abrupt(int socket) noexcept;

} // namespace gossamer::actors::detail
