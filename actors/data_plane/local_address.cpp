#include "gossamer/actors/data_plane/local_address.hpp"

#include "gossamer/actors/data_plane/detail/descriptor.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

namespace gossamer::actors {

namespace {

using address_list = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

address_list resolve(const endpoint& peer) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int failed = getaddrinfo(peer.host.c_str(), std::to_string(peer.port).c_str(), &wanted, &found))
    throw error(errc::io, fmt::format("cannot find {}: {}", to_string(peer), gai_strerror(failed)),
                "check the name of the host");
  return {found, &freeaddrinfo};
}

} // namespace

std::string local_address_towards(const endpoint& peer) {
  const auto there = resolve(peer);
  const int s = socket(there->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  const bool known =
      s >= 0 && connect(s, there->ai_addr, there->ai_addrlen) == 0
      && getsockname(s, reinterpret_cast<sockaddr*>(&own), &size) == 0
      && getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST)
             == 0;
  const int reason = errno;
  if (s >= 0)
    close(s);
  if (!known)
    throw error(errc::io, fmt::format("there is no way to {}: {}", to_string(peer), std::strerror(reason)),
                "check the address and the network");
  return text.data();
}

std::string loopback_address() {
  const detail::descriptor s{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool has_it =
      s ? bind(s.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0 : errno != EAFNOSUPPORT;
  return has_it ? "127.0.0.1" : "::1";
}

} // namespace gossamer::actors
