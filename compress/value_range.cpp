#include "gossamer/compress/detail/value_range.hpp"

#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {

value_range finite_range_of(std::span<const float> v, std::span<const float> whole) {
  const auto range = range_of(v);
  if (!std::isfinite(range.low) || !std::isfinite(range.high))
    finite_max_magnitude(whole); // throws
  return range;
}

void write_range(const value_range& range, std::byte* out) noexcept {
  static_assert(sizeof range == range_bits / 8);
  std::memcpy(out, &range, sizeof range);
}

value_range read_range(const std::byte* in) {
  value_range range;
  std::memcpy(&range, in, sizeof range);
  const auto [low, high] = range;
  const auto negative_zero = [](float x) { return x == 0 && std::signbit(x); };
  if (!std::isfinite(low) || !std::isfinite(high) || low > high || negative_zero(low) || negative_zero(high))
    throw bad_packet(fmt::format("packet has elements between {} and {}; allowed: finite ends in order", low, high));
  return range;
}

double range_relative_error(std::size_t elements, double gap) noexcept {
  return elements <= 2 ? 0 : static_cast<double>(elements - 2) * gap * gap / 2;
}

} // namespace gossamer::compress::detail
