#pragma once

#include <algorithm>
#include <cstdint>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gossamer::testing_support {

/// The end of a connection that finds it reset by this machine rather than by the other one.
enum class reset_end { opening, accepting };

/// Resets all connections of this process to one of its ports, as a firewall does that has forgotten them.
/// @returns how many there were
inline int reset_connections_to(std::uint16_t port, reset_end which = reset_end::opening) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  int result = 0;
  for (int file = 3; file < static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 4096)); ++file) {
    sockaddr_in own{}, other{};
    socklen_t own_size = sizeof own, other_size = sizeof other;
    const bool is_connected = getsockname(file, reinterpret_cast<sockaddr*>(&own), &own_size) == 0
                              && getpeername(file, reinterpret_cast<sockaddr*>(&other), &other_size) == 0
                              && own.sin_family == AF_INET;
    if (!is_connected || ntohs(which == reset_end::opening ? other.sin_port : own.sin_port) != port)
      continue;
    // Dissolves the association. The thread sanitizer would take `connect` for a use that races with that of the owner.
    const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
    result += syscall(SYS_connect, file, &nowhere, sizeof nowhere) == 0;
  }
  return result;
}

} // namespace gossamer::testing_support
