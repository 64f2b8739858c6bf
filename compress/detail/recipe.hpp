#pragma once

#include "gossamer/base/philox.hpp"

namespace gossamer::compress::detail {

/// Returns a random stream as one word of a packet's recipe.
inline std::uint64_t recipe_word(const random_stream& random) {
  const auto key = random.key();
  return key[0] | std::uint64_t{key[1]} << 32;
}

inline random_stream recipe_stream(std::uint64_t word) {
  return random_stream{philox_key{static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)}};
}

} // namespace gossamer::compress::detail
