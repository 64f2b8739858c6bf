#pragma once

#include <cstdint>

namespace gossamer::actors {

/// Rounds of so many steps, of which the last one exchanges something: the first are the steps 0 .. length - 1.
struct step_rounds {
  std::uint64_t length;

  std::uint64_t round_of(std::uint64_t t) const noexcept { return t / length; }
  bool begin_at(std::uint64_t t) const noexcept { return t % length == 0; }
  bool end_after(std::uint64_t t) const noexcept { return (t + 1) % length == 0; }
  /// The last step of the round of step t: `algorithm::next_exchange`.
  std::uint64_t last_of(std::uint64_t t) const noexcept { return round_of(t) * length + length - 1; }
};

} // namespace gossamer::actors
