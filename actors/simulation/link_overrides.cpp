#include "gossamer/actors/simulation/detail/networks.hpp"

#include <fmt/format.h>

#include <utility>

namespace gossamer::actors {

namespace {

/// "3", or "all" for every node.
std::optional<rank> parse_end(std::string_view link, std::string_view word) {
  if (word == "all")
    return std::nullopt;
  const auto subject = fmt::format("an end of link '{}'", link);
  return static_cast<rank>(parse_integer(subject, word, 0, max_nodes - 1));
}

std::pair<std::string, std::string> split_ends(const std::string& link) {
  for (const std::string_view separator : {"-to-", "-"})
    if (const auto at = link.find(separator); at != std::string::npos)
      return {link.substr(0, at), link.substr(at + separator.size())};
  throw error(errc::usage, fmt::format("'{}' does not name a link", link),
              "write 0-3 for both directions, 0-to-3 for one, 0-all for all links of node 0");
}

/// Reads one link, in the one or two directions that its text stands for.
std::vector<link_override> parse_link(std::string_view text) {
  const auto given = spec::parse(text);
  const auto& link = given.name;
  const auto [first, second] = split_ends(link);
  link_override one{.from = parse_end(link, first), .to = parse_end(link, second)};
  if (one.from == one.to)
    throw error(errc::usage, fmt::format("link '{}' joins a node to itself", link),
                one.from ? "name two different nodes" : "choose a network with other links instead");

  const arguments checked{"link", {.name = link, .parameters = detail::link_parameters("", "", "")}, given};
  if (given.values.empty())
    throw error(errc::usage, fmt::format("link '{}' is named, but nothing about it is changed", link),
                fmt::format("write {}:latency=...,bandwidth=...,jitter=...; one of them is enough", link));
  const auto value = [&checked = checked](std::string_view key) {
    return checked.text(key).empty() ? std::nullopt : std::optional{checked.real(key)};
  };
  one.latency_s = value("latency");
  one.bits_per_second = value("bandwidth");
  one.jitter_s = value("jitter");
  if (link.find("-to-") != std::string::npos)
    return {one};
  auto back = one;
  std::swap(back.from, back.to);
  return {one, back};
}

} // namespace

std::vector<link_override> parse_link_overrides(std::string_view text) {
  std::vector<link_override> result;
  for (const auto& item : split(text, ';'))
    for (const auto& one : parse_link(item))
      result.push_back(one);
  return result;
}

} // namespace gossamer::actors
