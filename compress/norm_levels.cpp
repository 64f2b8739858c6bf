#include "gossamer/compress/detail/norm_levels.hpp"

#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {

float sendable_norm(float norm, int levels) noexcept {
  return norm / static_cast<float>(levels) < std::numeric_limits<float>::min() ? 0 : norm;
}

level_grid norm_grid(float norm, int levels) noexcept {
  if (norm == 0)
    return {};
  const auto top = static_cast<float>(levels);
  const float step = norm / top;
  return {.step = step, .inverse = 1 / step, .bottom = -top, .top = top, .low = -norm, .high = norm};
}

float read_norm(const std::byte* in, int levels) {
  float norm;
  std::memcpy(&norm, in, sizeof norm);
  const bool zero = std::bit_cast<std::uint32_t>(norm) == 0;
  if (!zero && !(std::isfinite(norm) && norm > 0 && sendable_norm(norm, levels) == norm))
    throw bad_packet(fmt::format("packet has the norm {}; it must be 0 or finite and at least 2^-126 a level", norm));
  return norm;
}

} // namespace gossamer::compress::detail
