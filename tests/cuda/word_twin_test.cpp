// The arithmetic that kernels and the processor share, compared word by word with the SIMD kernels.
#include "gossamer/compress/cuda/detail/level_codes.hpp"
#include "gossamer/compress/cuda/detail/place_codes.hpp"
#include "gossamer/compress/cuda/detail/sign_codes.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <gtest/gtest.h>

#include <array>

#include "cuda/codec_cases.hpp"
#include "support/each_instruction_set.hpp"

namespace gossamer::test {
namespace {

using namespace compress::cuda;

class word_twin : public each_instruction_set {};

/// Rounds, packs and decodes eight elements with both.
void expect_eight(const level_grid& grid, int bits, std::span<const float> v, std::span<const std::uint32_t> words) {
  compress::detail::level_codes codes;
  std::array<std::byte, 16> packed{};
  std::array<float, 8> decoded{};
  compress::detail::level_bits random{.words = {}, .halved = false};
  std::ranges::copy(words, random.words);
  compress::detail::quantise_levels(bits, grid, v, random, codes, 0);
  compress::detail::dequantise_levels(bits, grid, codes, 0, decoded);
  compress::detail::pack_levels(bits, codes, 8, packed.data());

  std::array<std::uint32_t, 8> own{}, unpacked{};
  std::array<unsigned char, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i)
    own[i] = level_code(grid, bits, v[i], words[i]);
  const auto eight = eight_codes::pack(bits, own.data());
  eight.store(bits, bytes.data());
  ASSERT_EQ(std::memcmp(bytes.data(), packed.data(), static_cast<std::size_t>(bits)), 0) << bits;
  eight_codes::load(bits, bytes.data()).unpack(bits, unpacked.data());
  ASSERT_EQ(unpacked, own) << bits;
  for (std::size_t i = 0; i < 8; ++i)
    ASSERT_EQ(level_value(grid, bits, own[i]), decoded[i]) << bits;
}

TEST_P(word_twin, rounds_and_packs_as_the_simd_kernels_do) {
  const auto v = normal_values(8000);
  std::vector<std::uint32_t> words(v.size());
  codec_randomness.fill(3, 0, words);
  for (int bits = 1; bits <= 16; ++bits)
    for (std::size_t i = 0; i < v.size(); i += 8) {
      const std::span eight{v.data() + i, 8};
      const std::span random{words.data() + i, 8};
      const float largest = max_magnitude(eight);
      ASSERT_NO_FATAL_FAILURE(expect_eight(
          compress::detail::uniform_grid(compress::detail::uniform_scale(largest, bits), bits), bits, eight, random));
      const auto range = compress::detail::range_of(eight);
      ASSERT_NO_FATAL_FAILURE(expect_eight(compress::detail::range_grid(range, bits), bits, eight, random));
      const int levels = bits == 1 ? 1 : (1 << (bits - 1)) - 1;
      ASSERT_NO_FATAL_FAILURE(
          expect_eight(compress::detail::norm_grid(largest, levels), std::max(bits, 2), eight, random));
    }
}

TEST_P(word_twin, merges_as_the_simd_kernels_do) {
  std::vector<std::uint64_t> v(50), w(50), r(50), expected(50);
  random_sequence random{{1, 0, purpose::merge}, 0};
  for (auto* words : {&v, &w, &r})
    for (auto& word : *words)
      word = std::uint64_t{random()} << 32 | random();
  compress::detail::merge_words(v.data(), w.data(), r.data(), v.size(), expected.data());
  for (std::size_t i = 0; i < v.size(); ++i)
    for (int half : {0, 32})
      ASSERT_EQ(merged(static_cast<std::uint32_t>(v[i] >> half), static_cast<std::uint32_t>(w[i] >> half),
                       static_cast<std::uint32_t>(r[i] >> half)),
                static_cast<std::uint32_t>(expected[i] >> half));
}

TEST_P(word_twin, orders_signs_as_the_simd_kernels_do) {
  const auto v = normal_values(128);
  std::array<std::uint32_t, 4> expected{}, ballots{};
  compress::detail::pack_sign_bits(v, std::as_writable_bytes(std::span{expected}).data());
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t c = 0; c < 4; ++c)
      ballots[c] |= (v[4 * lane + c] >= 0 ? 1u : 0u) << lane;
  for (unsigned j = 0; j < 4; ++j)
    ASSERT_EQ(interleave(ballots.data(), j), expected[j]);
}

INSTANTIATE_TEST_SUITE_P(instruction_set, word_twin, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         each_instruction_set::name);

TEST(ordered, keeps_the_order_of_floats_and_puts_nan_at_the_ends) {
  constexpr auto infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::array floats{-nan, -infinity, -3.0f, -1e-45f, -0.0f, 0.0f, 1e-45f, 2.0f, infinity, nan};
  for (std::size_t i = 0; i < floats.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(from_ordered(ordered(floats[i]))), std::bit_cast<std::uint32_t>(floats[i]));
    if (i > 0) {
      EXPECT_LT(ordered(floats[i - 1]), ordered(floats[i]));
    }
    EXPECT_EQ(is_finite(floats[i]), std::isfinite(floats[i]));
  }
}

TEST(place_at, reads_places_of_any_width) {
  for (int bits = 1; bits <= 32; ++bits) {
    const auto most = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    std::vector<std::uint32_t> words(place_words(bits, 40));
    for (std::uint64_t bit = 0; bit < 40u * static_cast<unsigned>(bits); ++bit)
      words[bit / 32] |= 1u << bit % 32;
    for (std::uint64_t k = 0; k < 40; ++k)
      ASSERT_EQ(place_at(words.data(), bits, k, 40), most) << bits;
  }
}

} // namespace
} // namespace gossamer::test
