#include "gossamer/compress/detail/norm_levels.hpp"

#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {

float read_norm(const std::byte* in, int levels) {
  float norm;
  std::memcpy(&norm, in, sizeof norm);
  const bool zero = std::bit_cast<std::uint32_t>(norm) == 0;
  if (!zero && !(std::isfinite(norm) && norm > 0 && sendable_norm(norm, levels) == norm))
    throw bad_packet(fmt::format("packet has the norm {}; it must be 0 or finite and at least 2^-126 a level", norm));
  return norm;
}

} // namespace gossamer::compress::detail
