#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gossamer::actors {

/// The address at which a process listens for TCP connections.
struct endpoint {
  std::string host;       ///< a name, an IPv4 address, or an IPv6 address without brackets
  std::uint16_t port = 0; ///< 0: any free port

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Reads `HOST:PORT` or `[ADDRESS]:PORT`; an IPv6 address needs the brackets.
/// @error errc::usage with the fault of the text
endpoint parse_endpoint(std::string_view text);

/// True if the text has only letters of names and addresses, and no more than a name may have. An empty one names none.
bool is_host(std::string_view text);

/// The text form that `parse_endpoint` reads.
std::string to_string(const endpoint& e);

template <class Inspector>
decltype(auto) inspect(Inspector& f, endpoint& e) {
  return f(e.host, e.port);
}

} // namespace gossamer::actors
