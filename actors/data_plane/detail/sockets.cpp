#include "gossamer/actors/data_plane/detail/sockets.hpp"

#include "gossamer/actors/data_plane/detail/descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>

namespace gossamer::actors::detail {

namespace {

/// Bytes above this limit that are not on the wire yet stay with the outbox, where small frames can overtake them.
constexpr int most_unsent_bytes = 256 << 10;

transfer result_of(ssize_t moved) noexcept {
  if (moved >= 0)
    return {.bytes = static_cast<std::size_t>(moved)};
  const bool gone = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
  return {.gone = gone, .broken = gone};
}

void set(int socket, int level, int option, int value) noexcept {
  setsockopt(socket, level, option, &value, sizeof value);
}

#ifdef TCP_CONGESTION
/// A connection within a machine has no network to explore, and BBR's timers take two fifths of an all-reduce's
/// processor time.
constexpr std::string_view simplest = "reno";

std::string congestion_control_of(int socket) {
  std::array<char, 16> name{};
  socklen_t size = name.size();
  return getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0 ? std::string{name.data()}
                                                                                  : std::string{};
}

void control_congestion(int socket, std::string_view name) noexcept {
  setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

bool paces(std::string_view congestion_control) { return congestion_control.starts_with("bbr"); }

/// Undoes `begin_unpaced`.
void give_back_pace(int socket) {
  const descriptor fresh{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (const auto usual = congestion_control_of(fresh.get()); paces(usual) && congestion_control_of(socket) == simplest)
    control_congestion(socket, usual);
}

/// True if both ends have the same address.
bool stays_on_this_machine(int socket) noexcept {
  const auto host = [socket](auto get) {
    sockaddr_storage found{};
    socklen_t size = sizeof found;
    std::array<std::byte, sizeof(in6_addr)> result{};
    if (get(socket, reinterpret_cast<sockaddr*>(&found), &size) == 0 && found.ss_family == AF_INET)
      std::memcpy(result.data(), &reinterpret_cast<sockaddr_in&>(found).sin_addr, sizeof(in_addr));
    else if (found.ss_family == AF_INET6)
      std::memcpy(result.data(), &reinterpret_cast<sockaddr_in6&>(found).sin6_addr, sizeof(in6_addr));
    return result;
  };
  return host(getsockname) == host(getpeername);
}
#endif

} // namespace

transfer receive_some(int socket, std::span<std::byte> to) noexcept {
  const auto moved = recv(socket, to.data(), to.size(), MSG_DONTWAIT);
  return moved == 0 ? transfer{.gone = true} : result_of(moved);
}

transfer send_some(int socket, std::span<const std::span<const std::byte>> pieces) noexcept {
  std::array<iovec, 256> parts;
  const auto count = std::min(pieces.size(), parts.size());
  for (std::size_t i = 0; i < count; ++i)
    parts[i] = {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()}; // sendmsg does not write to the pieces
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  return result_of(sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void begin_unpaced([[maybe_unused]] int socket) noexcept {
#ifdef TCP_CONGESTION
  if (paces(congestion_control_of(socket)))
    control_congestion(socket, simplest);
#endif
}

void tune(int socket, std::chrono::milliseconds patience) noexcept {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
#ifdef TCP_CONGESTION
  if (stays_on_this_machine(socket))
    control_congestion(socket, simplest);
  else
    give_back_pace(socket);
#endif
#ifdef TCP_NOTSENT_LOWAT
  set(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, most_unsent_bytes);
#endif
#ifdef TCP_USER_TIMEOUT
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(patience.count()));
#endif
}

unanswered unanswered_on([[maybe_unused]] int socket) noexcept {
#ifdef __linux__
  tcp_info found{};
  socklen_t size = sizeof found;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &found, &size) == 0)
    return {std::uint32_t{found.tcpi_retransmits} + found.tcpi_probes, // probes: this machine's network is down
            std::chrono::milliseconds{found.tcpi_last_ack_recv}, std::chrono::microseconds{found.tcpi_rtt}};
#endif
  return {};
}

void make_abrupt(int socket) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

} // namespace gossamer::actors::detail
