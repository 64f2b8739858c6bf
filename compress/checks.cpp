#include "gossamer/compress/detail/checks.hpp"

#include "gossamer/base/vec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::compress::detail {

float finite_max_magnitude(std::span<const float> v) {
  const float largest = max_magnitude(v);
  if (std::isfinite(largest))
    return largest;
  const auto bad = std::ranges::find_if_not(v, [](float x) { return std::isfinite(x); });
  const auto* what = std::isnan(*bad) ? "nan" : *bad < 0 ? "-inf" : "inf"; // no sign of nan
  throw error(
      errc::diverged,
      fmt::format("element {} of a vector of {} is {}, so it cannot be encoded", bad - v.begin(), v.size(), what),
      "the training has left the finite numbers: lower the learning rate");
}

error bad_packet(std::string sentence) {
  return {errc::bad_packet, std::move(sentence), "the sender is not a compatible Gossamer, or the link damages data"};
}

void expect_elements(const packet& p, std::uint64_t elements) {
  if (p.elements != elements)
    throw bad_packet(fmt::format("packet of codec {} has {} elements instead of {}", p.codec, p.elements, elements));
}

void expect_bits(const packet& p, std::uint64_t bits) {
  if (p.bits != bits)
    throw bad_packet(fmt::format("packet of codec {} with {} elements carries {} bits where the codec writes {}",
                                 p.codec, p.elements, p.bits, bits));
  if (p.payload.size() != whole_bytes(bits))
    throw bad_packet(fmt::format("packet with {} bits has a payload of {} bytes instead of {}", bits, p.payload.size(),
                                 whole_bytes(bits)));
}

void expect_recipe(const packet& p, std::size_t words) {
  if (p.recipe.size() != words)
    throw bad_packet(fmt::format("packet of codec {} has a recipe of {} words where the codec writes {}", p.codec,
                                 p.recipe.size(), words));
}

} // namespace gossamer::compress::detail
