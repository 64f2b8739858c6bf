#include "gossamer/actors/frames/endpoint.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gossamer::actors {

namespace {

constexpr std::size_t longest_host = 253; // longest name in the domain name system

error bad_endpoint(std::string_view text, std::string_view problem) {
  return {errc::usage, fmt::format("'{}' is no address to listen on or connect to: {}", printable(text), problem),
          "write HOST:PORT or [ADDRESS]:PORT, e.g. 192.0.2.7:4000, node-3:4000 or [2001:db8::7]:4000"};
}

std::uint16_t parse_port(std::string_view text, std::string_view port) {
  std::uint16_t result = 0;
  const auto [end, status] = std::from_chars(port.data(), port.data() + port.size(), result);
  if (port.empty() || status != std::errc{} || end != port.data() + port.size())
    throw bad_endpoint(text, "its port is no number from 0 to 65535");
  return result;
}

bool is_part_of_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_part_of_address(char c) { return is_part_of_host(c) || c == ':' || c == '%'; }

} // namespace

bool is_host(std::string_view text) {
  return text.size() <= longest_host && std::ranges::all_of(text, is_part_of_address);
}

endpoint parse_endpoint(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const auto colon = bracketed ? text.find("]:") : text.find(':');
  if (colon == std::string_view::npos)
    throw bad_endpoint(text, "it has no port");
  if (!bracketed && text.find(':', colon + 1) != std::string_view::npos)
    throw bad_endpoint(text, "an IPv6 address stands in brackets");
  const auto host = bracketed ? text.substr(1, colon - 1) : text.substr(0, colon);
  if (host.empty())
    throw bad_endpoint(text, "it has no host");
  if (host.size() > longest_host || !std::ranges::all_of(host, bracketed ? is_part_of_address : is_part_of_host))
    throw bad_endpoint(text, "its host is neither a name nor an address");
  return {std::string{host}, parse_port(text, text.substr(colon + (bracketed ? 2 : 1)))};
}

std::string to_string(const endpoint& e) {
  return e.host.find(':') == std::string::npos ? fmt::format("{}:{}", e.host, e.port)
                                               : fmt::format("[{}]:{}", e.host, e.port);
}

} // namespace gossamer::actors
