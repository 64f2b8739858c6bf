#include "gossamer/actors/data_plane/control_guard.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

// Offsets in a header, see caf/io/basp/header.hpp.
constexpr std::size_t operation_at = 0, length_at = 4;
constexpr std::byte last_operation{6}; // heartbeat

} // namespace

std::optional<std::string> control_guard::objection(std::span<const std::byte> next) {
  while (!next.empty()) {
    if (left_ > 0) {
      const auto now = std::min<std::uint64_t>(left_, next.size());
      left_ -= now;
      next = next.subspan(now);
      continue;
    }
    const auto part = next.first(std::min(header_bytes - heard_, next.size()));
    std::ranges::copy(part, header_.begin() + static_cast<std::ptrdiff_t>(heard_));
    heard_ += part.size();
    next = next.subspan(part.size());
    if (heard_ < header_bytes)
      return std::nullopt;
    if (auto wrong = judge_header())
      return wrong;
    left_ = length();
    heard_ = 0;
  }
  return std::nullopt;
}

std::optional<std::string> control_guard::judge_header() const {
  if (header_[operation_at] > last_operation)
    return "sends what is no control message";
  if (length() > most_)
    return fmt::format("announces a control message of {} bytes, where this run has none above {}", length(), most_);
  return std::nullopt;
}

/// Reads the length in network byte order.
std::uint32_t control_guard::length() const {
  std::uint32_t result = 0;
  for (const auto byte : std::span{header_}.subspan<length_at, sizeof result>())
    result = result << 8 | std::to_integer<std::uint32_t>(byte);
  return result;
}

} // namespace gossamer::actors
