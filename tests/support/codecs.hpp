#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compress/codec.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>

namespace gossamer::test {

/// Returns values evenly distributed in [-scale, scale).
inline vec random_vector(buffer_pool& pool, std::size_t size, float scale = 1) {
  vec v{pool, size};
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = scale * (2 * random.uniform() - 1);
  return v;
}

/// Returns the 32-bit float at a byte of the payload.
inline float float_at(const compress::packet& p, std::size_t byte) {
  float x;
  std::memcpy(&x, p.payload.data() + byte, sizeof x);
  return x;
}

/// Returns code i of `bits` bits, where the first begins at bit `begin` of the payload: docs/wire-format.md, "Order of
/// bits".
inline std::uint32_t code_at(const compress::packet& p, std::size_t begin, std::size_t bits, std::size_t i) {
  std::uint32_t code = 0;
  for (std::size_t j = 0; j < bits; ++j) {
    const auto bit = begin + bits * i + j;
    code |= (std::to_integer<std::uint32_t>(p.payload.data()[bit / 8]) >> (bit % 8) & 1u) << j;
  }
  return code;
}

/// Returns the message of the errc::bad_packet that decoding throws.
inline std::string refusal_of(const compress::packet& p) {
  try {
    std::ignore = compress::decode(p);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

/// Returns the mean of |C(v) - v|^2 over this number of steps.
inline double mean_square_error(const compress::codec& codec, const vec& v, const random_stream& random, int steps) {
  double sum = 0;
  for (int t = 0; t < steps; ++t)
    sum += squared_distance(compress::decode(codec.encode(v, random, static_cast<std::uint64_t>(t))).view(), v.view());
  return sum / steps;
}

} // namespace gossamer::test
