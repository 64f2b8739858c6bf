#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer::compress::detail {

/// Elements that the kernels take at once: their values, random words and codes stay in the
/// first-level cache. A multiple of 8, so that every block begins on a whole byte whatever the
/// width.
inline constexpr std::size_t uniform_block = 2048;

/// Rounds up to one block of elements to codes of 1..16 bits and packs them; see uniform.cpp for
/// the formulas.
/// @param inverse 1 / delta
/// @param words one random word per element
/// @param out ceil(bits * v.size() / 8) bytes
void uniform_encode_block(int bits, float inverse, std::span<const float> v, const std::uint32_t* words,
                          std::byte* out) noexcept;

/// The elements that packed codes stand for.
/// @param in ceil(bits * v.size() / 8) bytes
void uniform_decode_block(int bits, float delta, const std::byte* in, std::span<float> v) noexcept;

} // namespace gossamer::compress::detail
