#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer {

/// Fills `to` with unpredictable bytes from the system: for secrets, never for numbers that a run must repeat.
/// @error errc::io when the system delivers none
void draw_secret(std::span<std::byte> to);

/// Returns 64 unpredictable bits, as `draw_secret` makes them.
std::uint64_t secret_number();

} // namespace gossamer
