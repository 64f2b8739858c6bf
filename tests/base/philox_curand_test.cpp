// cuRAND's host generator runs without a GPU. It is an implementation of Philox that shares no code with ours.
#include "gossamer/base/philox.hpp"

#include <gtest/gtest.h>

#include <curand.h>
#include <vector>

namespace gossamer {
namespace {

TEST(philox, equals_curand) {
  curandGenerator_t generator{};
  ASSERT_EQ(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10), CURAND_STATUS_SUCCESS);
  constexpr std::uint32_t seed = 42;
  ASSERT_EQ(curandSetPseudoRandomGeneratorSeed(generator, seed), CURAND_STATUS_SUCCESS);
  std::vector<std::uint32_t> words(16);
  ASSERT_EQ(curandGenerate(generator, words.data(), words.size()), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
  // The host generator gives one group of four to each of many subsequences in turn: counter {0, 0, i, 0}.
  for (std::uint32_t i = 0; i < words.size() / 4; ++i) {
    const auto expected = philox4x32_10({0, 0, i, 0}, {seed, 0});
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_EQ(words[4 * i + j], expected[j]) << "group " << i << " word " << j;
  }
}

} // namespace
} // namespace gossamer
