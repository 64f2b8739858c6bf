// cuRAND's device function, which kernels call, compiled for the processor, and its host generator, against our Philox.
#include "gossamer/base/philox.hpp"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <curand.h>
#include <vector>

#define QUALIFIERS static inline
#include <curand_philox4x32_x.h>

namespace gossamer {
namespace {

TEST(curand, gives_kernels_the_numbers_of_the_processor) {
  random_sequence any{{5, 0, purpose::synthetic}, 0};
  for (int i = 0; i < 1000; ++i) {
    const philox_key key{any(), any()};
    const std::uint64_t group = std::uint64_t{any()} << (i % 33) | any(), step = std::uint64_t{any()} << 32 | any();
    const random_stream stream{key};
    const auto words = curand_Philox4x32_10(uint4{static_cast<unsigned>(group), static_cast<unsigned>(group >> 32),
                                                  static_cast<unsigned>(step), static_cast<unsigned>(step >> 32)},
                                            uint2{key[0], key[1]});
    if (group >> 62 != 0)
      continue; // 4 * group is not the number of an element
    EXPECT_EQ(stream.word(step, 4 * group), words.x);
    EXPECT_EQ(stream.word(step, 4 * group + 1), words.y);
    EXPECT_EQ(stream.word(step, 4 * group + 2), words.z);
    EXPECT_EQ(stream.word(step, 4 * group + 3), words.w);
  }
}

/// The host generator gives one group of four to each of many subsequences in turn.
TEST(curand, has_subsequences_for_steps) {
  curandGenerator_t generator{};
  ASSERT_EQ(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 77), CURAND_STATUS_SUCCESS);
  std::vector<std::uint32_t> words(64);
  ASSERT_EQ(curandGenerate(generator, words.data(), words.size()), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
  const random_stream stream{philox_key{77, 0}};
  for (std::uint64_t step = 0; step < words.size() / 4; ++step)
    for (std::uint64_t i = 0; i < 4; ++i)
      EXPECT_EQ(stream.word(step, i), words[4 * step + i]);
}

} // namespace
} // namespace gossamer
