#pragma once

#include "gossamer/base/philox.hpp"

#include <limits>

namespace gossamer::actors {

/// The stream of a worker's later incarnation, with numbers of its own. Its key is drawn from the first stream, at a
/// step that no run reaches.
inline random_stream stream_of_life(const random_stream& first, std::uint32_t life) noexcept {
  constexpr auto never = std::numeric_limits<std::uint64_t>::max();
  const auto place = 2 * std::uint64_t{life};
  return life == 0 ? first : random_stream{philox_key{first.word(never, place), first.word(never, place + 1)}};
}

} // namespace gossamer::actors
