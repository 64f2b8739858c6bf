#pragma once

#include "gossamer/compress/sign_bits.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "cuda/codec_cases.hpp"

// Marsit's merge on GPUs, for a `Backend` that is a GPU or stands in for one. Its functions are those of
// compress/cuda/signs.hpp, from and to vectors of the host.
namespace gossamer::test {

using sign_list = std::vector<std::uint64_t>;

template <class Backend>
void expect_signs_of_the_processor(Backend& backend) {
  for (std::size_t size : {1u, 31u, 33u, 64u, 65u, 511u, 513u, 5000u, (1u << 16) + 7}) {
    SCOPED_TRACE(size);
    const auto v = normal_values(size), w = normal_values(size, -2);
    sign_list signs(compress::sign_words(size)), others(signs.size());
    compress::pack_signs(v, signs);
    compress::pack_signs(w, others);
    others[0] ^= 5; // normal_values(size, -2) are just the opposites
    ASSERT_EQ(backend.pack_signs(v), signs);
    for (std::uint64_t first : {0u, 64u, 128u, 192u, 4096u})
      for (const auto& [a, b] : {std::pair{3u, 1u}, {1u, 1u}, {2u, 5u}, {1u, 32000u}}) {
        sign_list transient(signs.size()), merged(signs.size());
        compress::draw_transient(signs, a, b, size, codec_randomness, 9, first, transient);
        ASSERT_EQ(backend.draw_transient(signs, a, b, size, first), transient) << first << ", " << a << ':' << b;
        compress::merge_signs(others, signs, transient, merged);
        ASSERT_EQ(backend.merge_signs(others, signs, transient), merged);
      }
    auto sums = v;
    compress::add_signs(signs, 0.75f, sums);
    ASSERT_EQ(backend.add_signs(signs, 0.75f, v), sums);
  }
}

} // namespace gossamer::test
