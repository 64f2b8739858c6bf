#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer {

/// Fills it with bytes that nobody guesses, from the system: for secrets, never for what is to repeat itself.
/// @error errc::io when the system gives none
void draw_secret(std::span<std::byte> to);

/// The same, of 64 bits.
std::uint64_t secret_number();

} // namespace gossamer
