// Sums of signs under multi-hop all-reduce.
#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/compress/sign_bits.hpp"
#include "gossamer/compress/sign_sums.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "support/golden.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;
using words_of = std::vector<std::uint64_t>;

constexpr std::size_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 300};
constexpr auto both_codes = {sign_sum_code::fixed, sign_sum_code::elias};

words_of random_signs(std::size_t size, std::uint32_t worker) {
  std::vector<float> v(size);
  random_sequence random{{9, worker, purpose::synthetic}, size};
  for (float& x : v)
    x = random.uniform() - 0.5f;
  words_of words(sign_words(size));
  pack_signs(v, words);
  return words;
}

int sign_of(const words_of& words, std::size_t i) { return (words[i / 64] >> (i % 64) & 1) != 0 ? 1 : -1; }

/// k workers with random signs, and the sums of their signs.
struct crowd {
  crowd(buffer_pool& pool, std::size_t size, std::uint32_t k)
      : sums(pool, random_signs(size, 0), size), expected(size) {
    for (std::uint32_t m = 0; m < k; ++m) {
      const auto signs = random_signs(size, m);
      if (m > 0)
        sums += sign_sums(pool, signs, size);
      for (std::size_t i = 0; i < size; ++i)
        expected[i] += sign_of(signs, i);
    }
  }

  sign_sums sums;
  std::vector<int> expected;
};

void expect_sums(const sign_sums& sums, const std::vector<int>& expected) {
  ASSERT_EQ(sums.size(), expected.size());
  std::vector<float> values(sums.size());
  sums.to_values(0.1f, values);
  words_of majority(sign_words(sums.size()), ~std::uint64_t{0});
  sums.majority(majority);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(2 * static_cast<int>(sums.positive(i)) - static_cast<int>(sums.contributors()), expected[i]) << i;
    ASSERT_EQ(values[i], 0.1f * static_cast<float>(expected[i])) << i;
    ASSERT_EQ(sign_of(majority, i), expected[i] >= 0 ? 1 : -1) << i; // T52: a tie is a +1
  }
  if (sums.size() % 64 != 0) {
    ASSERT_EQ(majority.back() >> (sums.size() % 64), 0u);
  }
}

TEST(sign_sums, add_up_signs) {
  buffer_pool pool;
  for (auto size : sizes)
    for (std::uint32_t k : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 16u, 33u}) {
      SCOPED_TRACE(testing::Message() << k << " workers, " << size << " elements");
      const crowd c(pool, size, k);
      EXPECT_EQ(c.sums.contributors(), k);
      expect_sums(c.sums, c.expected);
    }
}

TEST(sign_sums, add_up_sums) {
  buffer_pool pool;
  const std::size_t size = 130;
  for (std::uint32_t k : {1u, 2u, 3u, 6u, 17u})
    for (std::uint32_t l : {1u, 2u, 5u, 15u, 16u}) {
      crowd a(pool, size, k);
      const crowd b(pool, size, l);
      a.sums += b.sums;
      for (std::size_t i = 0; i < size; ++i)
        a.expected[i] += b.expected[i];
      EXPECT_EQ(a.sums.contributors(), k + l);
      expect_sums(a.sums, a.expected);
    }
}

TEST(sign_sums, count_as_many_workers_as_they_promise) {
  buffer_pool pool;
  const auto signs = random_signs(70, 0);
  sign_sums sums(pool, signs, 70), power(pool, signs, 70); // 32767 = 1 + 2 + 4 + ...
  while (sums.contributors() < sign_sums::most_contributors) {
    power += sign_sums{power};
    sums += power;
  }
  std::vector<int> expected(70);
  for (std::size_t i = 0; i < 70; ++i)
    expected[i] = 32767 * sign_of(signs, i);
  expect_sums(sums, expected);
  for (auto code : both_codes)
    expect_sums(sign_sums::decode(sums.encode(code), 70, 32767), expected);
}

TEST(sign_sums, are_cut_into_slices_and_joined_again) {
  buffer_pool pool;
  for (const std::uint32_t k : {1u, 3u, 8u})
    for (const auto size : sizes) {
      const crowd c(pool, size, k);
      sign_sums joined(pool, size, k);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(joined.positive(i), 0u);
      for (std::size_t begin = 0; begin < size; begin += 128) {
        const auto slice = c.sums.slice(begin, std::min<std::size_t>(128, size - begin));
        ASSERT_EQ(slice.contributors(), k);
        joined.replace(begin, slice);
      }
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(joined.positive(i), c.sums.positive(i)) << "element " << i << " of " << size;
      if (size < 65)
        continue;
      const auto within = c.sums.slice(64, 1); // its unused bits are 0, as encoding needs them
      const auto again = sign_sums::decode(within.encode(sign_sum_code::fixed), 1, k);
      EXPECT_EQ(again.positive(0), c.sums.positive(64));
    }
}

TEST(sign_sums, grow_in_width_with_the_workers) {
  for (auto [k, width] :
       {std::pair{1u, 1}, {2u, 2}, {3u, 2}, {4u, 3}, {7u, 3}, {8u, 4}, {15u, 4}, {16u, 5}, {32767u, 15}}) {
    EXPECT_EQ(sign_sum_width(k), width);
    EXPECT_EQ(sign_sum_width(k), std::max(1, static_cast<int>(std::ceil(std::log2(k + 1)))));
  }
}

TEST(sign_sums, survive_the_journey) {
  buffer_pool pool;
  for (auto size : sizes)
    for (std::uint32_t k : {1u, 2u, 3u, 4u, 7u, 8u, 20u})
      for (auto code : both_codes) {
        SCOPED_TRACE(testing::Message() << k << " workers, " << size << " elements");
        const crowd c(pool, size, k);
        const auto p = c.sums.encode(code);
        EXPECT_EQ(p.codec, 16);
        EXPECT_EQ(p.payload.size(), whole_bytes(p.bits));
        if (code == sign_sum_code::fixed) {
          EXPECT_EQ(p.bits, size * static_cast<std::uint64_t>(sign_sum_width(k)));
        }
        expect_sums(sign_sums::decode(read(pool, write(p).bytes()), size, k), c.expected);
      }
}

// The expected bits are those of section 8.0 of the specification, exact binomial sums for fair signs.
TEST(sign_sums, have_the_expected_length_of_fair_signs_in_elias_code) {
  buffer_pool pool;
  constexpr std::size_t size = 50'000;
  const std::pair<std::uint32_t, double> cases[] = {{1, 2.00}, {3, 2.50}, {7, 3.05}, {8, 3.05}, {15, 3.67}, {31, 4.36}};
  for (const auto& [k, bits] : cases)
    EXPECT_NEAR(static_cast<double>(crowd(pool, size, k).sums.encode(sign_sum_code::elias).bits) / size, bits, 0.03)
        << k;
}

TEST(sign_sums, take_the_code_that_is_shorter_for_fair_signs) {
  buffer_pool pool;
  for (std::uint32_t k = 1; k <= 40; ++k) {
    const crowd c(pool, 20'000, k);
    const auto fixed = c.sums.encode(sign_sum_code::fixed).bits, elias = c.sums.encode(sign_sum_code::elias).bits;
    EXPECT_EQ(c.sums.encode(sign_sum_code::shorter).bits, std::min(fixed, elias)) << k;
  }
}

TEST(sign_sums, allocate_nothing_once_warm) {
  buffer_pool pool;
  const auto signs = random_signs(3000, 0);
  const auto work = [&] {
    sign_sums sums(pool, signs, 3000);
    for (int i = 0; i < 5; ++i)
      sums += sign_sums(pool, signs, 3000);
    for (auto code : both_codes)
      sign_sums::decode(sums.encode(code), 3000, 6);
  };
  work();
  const auto warm = pool.blocks_created();
  for (int i = 0; i < 100; ++i)
    work();
  EXPECT_EQ(pool.blocks_created(), warm);
}

TEST(sign_sums, keep_their_written_form) {
  buffer_pool pool;
  const crowd c(pool, 69, 5);
  test::expect_golden("compress/sign-sum-fixed.hex", write(c.sums.encode(sign_sum_code::fixed)).bytes());
  test::expect_golden("compress/sign-sum-elias.hex", write(c.sums.encode(sign_sum_code::elias)).bytes());
}

class sign_sum_packet : public testing::Test {
protected:
  std::string refusal(const packet& p, std::uint32_t k = 5) {
    try {
      sign_sums::decode(p, 100, k);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_packet);
      return e.sentence();
    }
    return "accepted";
  }
  template <class Change>
  std::string with(sign_sum_code code, Change change) {
    auto p = crowd(pool_, 100, 5).sums.encode(code);
    change(p);
    return refusal(p);
  }

  buffer_pool pool_;
};

TEST_F(sign_sum_packet, is_refused_when_it_is_not_what_is_expected) {
  const auto fixed = sign_sum_code::fixed, elias = sign_sum_code::elias;
  EXPECT_EQ(with(fixed, [](packet&) {}), "accepted");
  EXPECT_EQ(with(elias, [](packet&) {}), "accepted");
  EXPECT_EQ(with(fixed, [](packet& p) { p.codec = 13; }),
            "packet of codec 13 with parameter 0 where sums of signs are expected");
  EXPECT_EQ(with(fixed, [](packet& p) { p.parameter = 2; }),
            "packet of codec 16 with parameter 2 where sums of signs are expected");
  EXPECT_EQ(with(fixed, [](packet& p) { p.elements = 99; }), "packet of sums of signs has 99 elements instead of 100");
  EXPECT_EQ(with(fixed, [](packet& p) { p.recipe = {4}; }), "packet of sums of signs counts 4 workers instead of 5");
  EXPECT_THAT(with(fixed, [](packet& p) { p.recipe = {}; }), HasSubstr("recipe of 0 words"));
  EXPECT_THAT(with(fixed, [](packet& p) { p.bits = 301; }), HasSubstr("carries 301 bits where the codec writes 300"));
  EXPECT_THAT(with(fixed, [](packet& p) { p.payload.truncate(37); }), HasSubstr("payload of 37 bytes instead of 38"));
  EXPECT_EQ(with(elias, [](packet& p) { p.bits = 99, p.payload.truncate(13); }),
            "packet has 99 bits for 100 sums of signs");
  EXPECT_THAT(with(elias, [](packet& p) { --p.bits, p.payload.truncate(whole_bytes(p.bits)); }),
              HasSubstr("a bit stream ends within a number"));
}

TEST_F(sign_sum_packet, is_refused_when_a_sum_is_impossible) {
  for (auto value : {std::byte{0xFF}, std::byte{0x00}}) {
    auto fixed = crowd(pool_, 100, 5).sums.encode(sign_sum_code::fixed);
    std::ranges::fill(fixed.payload.bytes().first(24), value);
    EXPECT_EQ(refusal(fixed), value == std::byte{0} ? "accepted" : "packet holds a sum that 5 signs cannot have");
  }
  // Elias: ranks 1 to 6 are the counts 3, 2, 4, 1, 5, 0. Rank 7 has no count.
  for (std::uint64_t rank = 1; rank <= 9; ++rank) {
    const auto zeros = static_cast<std::uint64_t>(std::bit_width(rank)) - 1;
    const auto code = (std::uint64_t{1} | (rank & ((1u << zeros) - 1)) << 1) << zeros; // zeros, one, low bits of rank
    packet p{16, 1, 100, 99 + 2 * zeros + 1, pool_.allocate(whole_bytes(100 + 2 * zeros)), {5}};
    std::ranges::fill(p.payload.bytes(), std::byte{0xFF});
    std::memcpy(p.payload.data(), &code, 1);
    p.payload.data()[0] |= static_cast<std::byte>(0xFF << (2 * zeros + 1));
    EXPECT_EQ(refusal(p), rank <= 6 ? "accepted" : "packet holds a sum that 5 signs cannot have") << rank;
  }
}

TEST_F(sign_sum_packet, is_refused_when_a_rank_has_as_many_bits_as_there_are) {
  packet p{16, 1, 100, 8 * 17, pool_.allocate(17), {5}};
  std::ranges::fill(p.payload.bytes(), std::byte{0xFF});
  std::ranges::fill(p.payload.bytes().first(7), std::byte{0});
  p.payload.data()[7] = std::byte{0x80}; // 63 zeros, a one, and 63 ones
  EXPECT_EQ(refusal(p), "packet holds a sum that 5 signs cannot have");
}

TEST_F(sign_sum_packet, has_one_written_form_however_it_is_damaged) {
  random_sequence random{{3, 0, purpose::synthetic}, 0};
  int accepted = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    const auto code = trial % 2 == 0 ? sign_sum_code::fixed : sign_sum_code::elias;
    auto p = crowd(pool_, 9, 5).sums.encode(code);
    for (auto times = 1 + random.below(3); times-- > 0;)
      p.payload.data()[random.below(static_cast<std::uint32_t>(p.payload.size()))] ^=
          static_cast<std::byte>(1u << random.below(8));
    if (p.bits % 8 != 0)
      p.payload.bytes().back() &= static_cast<std::byte>((1u << p.bits % 8) - 1); // clears the bits that `read` checks
    try {
      const auto again = sign_sums::decode(p, 9, 5).encode(code);
      ASSERT_EQ(again.bits, p.bits);
      ASSERT_TRUE(std::ranges::equal(again.payload.bytes(), p.payload.bytes()));
      ++accepted;
    } catch (const error& e) {
      ASSERT_EQ(e.code(), errc::bad_packet);
    }
  }
  EXPECT_GT(accepted, 1000);
}

} // namespace
} // namespace gossamer::compress
