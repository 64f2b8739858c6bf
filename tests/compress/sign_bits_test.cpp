// Signs in one bit an element, and Marsit's merge of them.
#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/detail/bernoulli.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/each_instruction_set.hpp"

namespace gossamer::compress {
namespace {

using words_of = std::vector<std::uint64_t>;

const random_stream randomness{5, 2, purpose::merge};
constexpr std::size_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 2047, 2048, 2049, 5000};

std::vector<float> random_values(std::size_t size) {
  std::vector<float> v(size);
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v)
    x = random.uniform() - 0.5f;
  return v;
}

words_of pack(std::span<const float> v) {
  words_of words(sign_words(v.size()), 0xAAAA'AAAA'AAAA'AAAA);
  pack_signs(v, words);
  return words;
}

words_of random_signs(std::size_t size, std::uint64_t seed) {
  auto v = random_values(size + seed);
  return pack(std::span{v}.subspan(seed));
}

int bit_of(const words_of& words, std::size_t i) { return static_cast<int>(words[i / 64] >> (i % 64) & 1); }

/// True if all bits behind the last element are 0.
bool is_padded(const words_of& words, std::size_t size) { return size % 64 == 0 || words.back() >> (size % 64) == 0; }

class sign_bits_on : public test::each_instruction_set {};

TEST_P(sign_bits_on, are_one_where_an_element_is_not_negative) {
  for (auto size : sizes) {
    auto v = random_values(size);
    for (std::size_t i = 0; i < size; i += 5)
      v[i] = i % 2 == 0 ? 0.0f : -0.0f;
    if (size > 40) {
      v[36] = std::numeric_limits<float>::denorm_min();
      v[37] = -std::numeric_limits<float>::denorm_min();
      v[38] = -std::numeric_limits<float>::max();
    }
    const auto words = pack(v);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(bit_of(words, i), v[i] >= 0 ? 1 : 0) << i << " of " << size;
    ASSERT_TRUE(is_padded(words, size)) << size;
  }
}

TEST_P(sign_bits_on, are_added) {
  for (auto size : sizes) {
    const auto words = random_signs(size, 0);
    std::vector<float> values(size), sums = random_values(size);
    const auto before = sums;
    add_signs(words, 0.3f, values);
    add_signs(words, 0.3f, sums);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(values[i], bit_of(words, i) ? 0.3f : -0.3f) << i << " of " << size;
      ASSERT_EQ(sums[i], before[i] + values[i]) << i << " of " << size;
    }
  }
}

/// Returns the number whose digits the planes of the step have for an element.
std::uint32_t number_of(std::uint64_t step, std::uint64_t element) {
  std::uint32_t u = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    u = u << 1 | (randomness.word(step, (k << 57) + element / 32) >> element % 32 & 1);
  return u;
}

constexpr std::pair<std::uint32_t, std::uint32_t> weights[] = {{3, 2}, {1, 1}, {3, 1}, {1, 32766}, {4294967295, 1}};

TEST_P(sign_bits_on, draw_the_transient_bits_of_their_definition) {
  for (auto size : sizes)
    for (std::uint64_t first : {0u, 64u, 128u, 6400u})
      for (const auto& [a, b] : weights) {
        const auto local = random_signs(size, 1);
        words_of drawn(local.size(), ~std::uint64_t{0});
        draw_transient(local, a, b, size, randomness, 7, first, drawn);
        const auto limit = (std::uint64_t{a} << 32) / (std::uint64_t{a} + b);
        for (std::size_t i = 0; i < size; ++i) {
          const bool received_wins = number_of(7, first + i) < limit;
          ASSERT_EQ(bit_of(drawn, i), bit_of(local, i) ^ (received_wins ? 1 : 0)) << i << " of " << size;
        }
        ASSERT_TRUE(is_padded(drawn, size)) << size;
        auto in_place = local;
        draw_transient(in_place, a, b, size, randomness, 7, first, in_place);
        ASSERT_EQ(in_place, drawn);
      }
}

TEST_P(sign_bits_on, are_flipped_by_as_few_planes_as_the_probability_has_digits) {
  constexpr std::size_t size = 64 * 10;
  const auto words_for = [](std::uint64_t limit, words_of& bits) {
    return detail::flip_bits(limit, randomness, 7, 0, size, bits);
  };
  words_of bits(sign_words(size));
  EXPECT_EQ(words_for(0, bits), 0u);
  EXPECT_EQ(bits, words_of(bits.size())) << "never";
  EXPECT_EQ(words_for(std::uint64_t{1} << 32, bits), 0u);
  EXPECT_EQ(bits, words_of(bits.size(), ~std::uint64_t{0})) << "always";
  EXPECT_EQ(words_for(0x8000'0000, bits), size / 32);
  EXPECT_EQ(words_for(0xC000'0000, bits), 2 * size / 32);
  const auto third = words_for(0x5555'5555, bits); // 640 bits need 10 or 11 planes, more than 22 once in 6000 times
  EXPECT_GT(third, 5 * size / 32);
  EXPECT_LT(third, 23 * size / 32);
}

// Segments of a vector that are drawn apart, by whichever worker and in whichever order, have the bits of the whole.
TEST_P(sign_bits_on, draw_the_same_bits_for_a_part_as_for_the_whole) {
  constexpr std::size_t size = 20000;
  const auto local = random_signs(size, 1);
  words_of whole(local.size());
  draw_transient(local, 5, 2, size, randomness, 7, 320, whole);
  for (std::size_t begin : {0u, 1u, 2u, 47u, 48u, 95u, 311u})
    for (std::size_t end : {begin + 1, begin + 49, local.size()}) {
      end = std::min(end, local.size());
      words_of part(end - begin);
      const auto elements = std::min(size, 64 * end) - 64 * begin;
      draw_transient(std::span{local}.subspan(begin, part.size()), 5, 2, elements, randomness, 7, 320 + 64 * begin,
                     part);
      ASSERT_TRUE(std::ranges::equal(part, std::span{whole}.subspan(begin, part.size()))) << begin << " to " << end;
    }
}

// T43: the merge follows its truth table.
TEST_P(sign_bits_on, merge_by_the_truth_table) {
  for (std::size_t words = 0; words < 20; ++words) {
    const words_of v(words, 0b11110000), w(words, 0b11001100), r(words, 0b10101010);
    words_of out(words);
    merge_signs(v, w, r, out);
    EXPECT_EQ(out, words_of(words, 0b11101000)) << "where v = w that, else r";
    out = v;
    merge_signs(out, w, r, out);
    EXPECT_EQ(out, words_of(words, 0b11101000)) << "in place";
  }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, sign_bits_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         sign_bits_on::name);

TEST(sign_bits, refuse_what_is_not_finite) {
  for (float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
    for (std::size_t at : {0u, 63u, 64u, 99u}) {
      auto v = random_values(100);
      v[at] = bad;
      words_of words(2);
      try {
        pack_signs(v, words);
        ADD_FAILURE() << "accepted " << bad;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::diverged);
        EXPECT_THAT(e.sentence(), testing::HasSubstr("element " + std::to_string(at) + " of a vector of 100"));
      }
    }
}

constexpr std::size_t dimension = 200;

/// Returns the signs of some workers. The first ten elements are all +1, the next ten all -1.
std::vector<words_of> votes(std::size_t workers) {
  std::vector<words_of> result;
  for (std::size_t m = 0; m < workers; ++m) {
    auto v = random_values(dimension + m);
    std::fill(v.begin(), v.begin() + 10, 1.0f);
    std::fill(v.begin() + 10, v.begin() + 20, -1.0f);
    v.resize(dimension);
    result.push_back(pack(v));
  }
  return result;
}

/// Runs a chain of merges. Worker m receives a result that counts `weight(m)` workers, and adds its own bit.
template <class Weight>
words_of chain(const std::vector<words_of>& bits, Weight weight, std::uint64_t step) {
  auto merged = bits[0];
  words_of transient(merged.size());
  for (std::uint32_t m = 1; m < bits.size(); ++m) {
    draw_transient(bits[m], weight(m), 1, dimension, random_stream{1, m, purpose::merge}, step, 0, transient);
    merge_signs(merged, bits[m], transient, merged);
  }
  return merged;
}

std::vector<double> mean_of(const std::vector<words_of>& bits) {
  std::vector<double> mean(dimension);
  for (const auto& words : bits)
    for (std::size_t i = 0; i < dimension; ++i)
      mean[i] += bit_of(words, i) / static_cast<double>(bits.size());
  return mean;
}

template <class Merge>
std::vector<double> mean_of_merges(int draws, Merge merge) {
  std::vector<words_of> results;
  for (int t = 0; t < draws; ++t)
    results.push_back(merge(static_cast<std::uint64_t>(t)));
  return mean_of(results);
}

double standard_error(double mean, int draws) { return std::sqrt(mean * (1 - mean) / draws); }

// T44 and T45
TEST(merged_signs, are_on_average_the_mean_of_the_signs) {
  constexpr int draws = 6000;
  for (std::size_t workers : {2u, 3u, 8u}) {
    const auto bits = votes(workers);
    const auto expected = mean_of(bits);
    const auto measured = mean_of_merges(draws, [&](auto step) {
      return chain(
          bits, [](std::uint32_t m) { return m; }, step);
    });
    for (std::size_t i = 0; i < dimension; ++i)
      ASSERT_NEAR(measured[i], expected[i], 4.5 * standard_error(expected[i], draws) + 1e-9)
          << i << " of M = " << workers;
  }
}

// T46: a merged bit is always the bit of a worker.
TEST(merged_signs, are_those_of_some_worker) {
  const auto bits = votes(5);
  const auto mean = mean_of(bits);
  for (std::uint64_t step = 0; step < 200; ++step) {
    const auto merged = chain(
        bits, [](std::uint32_t m) { return m; }, step);
    for (std::size_t i = 0; i < dimension; ++i) {
      if (mean[i] < 1e-9 || mean[i] > 1 - 1e-9) {
        ASSERT_EQ(bit_of(merged, i), mean[i] > 0.5 ? 1 : 0);
      }
    }
  }
}

// Columns of whole rows merge on a torus, so both sides stand for several workers.
TEST(merged_signs, weigh_both_sides) {
  constexpr int draws = 6000;
  const auto bits = votes(2);
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {{1, 1}, {2, 4}, {4, 2}, {3, 3}, {1, 1000}, {32766, 1}};
  for (const auto& [a, b] : cases) {
    const auto measured = mean_of_merges(draws, [&, a = a, b = b](auto step) {
      words_of out(bits[1].size());
      draw_transient(bits[1], a, b, dimension, randomness, step, 0, out);
      merge_signs(bits[0], bits[1], out, out);
      return out;
    });
    for (std::size_t i = 0; i < dimension; ++i) {
      const double expected = (1.0 * a * bit_of(bits[0], i) + 1.0 * b * bit_of(bits[1], i)) / (1.0 * a + b);
      ASSERT_NEAR(measured[i], expected, 4.5 * standard_error(expected, draws) + 1e-9) << a << ":" << b;
    }
  }
}

// T50: the paper prints m for the number of contributors. A chain that does not begin at worker 0 shows the bias.
TEST(merged_signs, would_be_biased_if_weights_were_ranks) {
  constexpr int draws = 2000;
  const auto bits = votes(4);
  const auto expected = mean_of(bits);
  const auto begun_at_two = std::vector{bits[2], bits[3], bits[0], bits[1]};
  const auto rank = [](std::uint32_t position) { return (position + 2) % 4; };
  const auto measured = mean_of_merges(draws, [&](auto step) {
    return chain(
        begun_at_two, [&](auto m) { return rank(m) == 0 ? 1 : rank(m); }, step);
  });
  int off = 0;
  for (std::size_t i = 0; i < dimension; ++i)
    off += std::fabs(measured[i] - expected[i]) > 4.5 * standard_error(expected[i], draws) + 1e-9;
  EXPECT_GT(off, 50);
}

TEST(sign_packets, are_those_of_the_codec) {
  buffer_pool pool;
  for (auto size : sizes) {
    const auto values = random_values(size);
    const auto words = pack(values);
    const auto p = sign_packet(pool, words, size);
    const auto encoded = make_codec("sign")->encode(vec{pool, values}, randomness, 0);
    EXPECT_TRUE(std::ranges::equal(write(p).bytes(), write(encoded).bytes()));
    words_of back(words.size(), ~std::uint64_t{0});
    read_signs(read(pool, write(p).bytes()), size, back);
    EXPECT_EQ(back, words);
  }
}

TEST(sign_packets, are_refused_when_they_are_not_what_is_expected) {
  buffer_pool pool;
  words_of words(2);
  const auto good = sign_packet(pool, words, 100);
  const auto refusal = [&](auto change) -> std::string {
    auto p = good;
    change(p);
    try {
      read_signs(p, 100, words);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_packet);
      return e.sentence();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal([](packet&) {}), "accepted");
  EXPECT_EQ(refusal([](packet& p) { p.codec = 14; }), "packet of codec 14 where one of codec sign is expected");
  EXPECT_EQ(refusal([](packet& p) { p.elements = 99; }), "packet of codec 13 has 99 elements instead of 100");
  EXPECT_EQ(refusal([](packet& p) { p.bits = 99; }),
            "packet of codec 13 with 100 elements carries 99 bits where the codec writes 100");
  EXPECT_EQ(refusal([](packet& p) { p.payload.truncate(12); }),
            "packet with 100 bits has a payload of 12 bytes instead of 13");
  EXPECT_EQ(refusal([](packet& p) { p.recipe = {1}; }),
            "packet of codec 13 has a recipe of 1 words where the codec writes 0");
}

} // namespace
} // namespace gossamer::compress
