#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/compress/elias.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

struct code {
  const char* name;
  int (*bits)(std::uint64_t) noexcept;
  void (*put)(bit_writer&, std::uint64_t) noexcept;
  std::uint64_t (*take)(bit_reader&);
};

constexpr code codes[] = {{"gamma", elias::gamma_bits, elias::put_gamma, elias::take_gamma},
                          {"omega", elias::omega_bits, elias::put_omega, elias::take_omega}};

std::uint64_t bits_of(const code& c, const std::vector<std::uint64_t>& numbers) {
  std::uint64_t sum = 0;
  for (auto n : numbers)
    sum += static_cast<std::uint64_t>(c.bits(n));
  return sum;
}

std::vector<std::byte> written(const code& c, const std::vector<std::uint64_t>& numbers) {
  std::vector<std::byte> bytes((bits_of(c, numbers) + 7) / 8);
  bit_writer out(bytes);
  for (auto n : numbers)
    c.put(out, n);
  out.finish();
  return bytes;
}

/// Returns the bits of one code in the order of sending.
std::string text_of(const code& c, std::uint64_t n) {
  const auto bytes = written(c, {n});
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.bits(n)); ++i)
    text += (std::to_integer<unsigned>(bytes[i / 8]) >> (i % 8) & 1u) != 0 ? '1' : '0';
  return text;
}

std::string refusal(const code& c, std::span<const std::byte> bytes, std::uint64_t bits) {
  bit_reader in(bytes, bits);
  try {
    c.take(in);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

/// Returns 1 to 3000, numbers of every width, and the largest number.
std::vector<std::uint64_t> many_numbers() {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t n = 1; n <= 3000; ++n)
    numbers.push_back(n);
  random_sequence random{{1, 0, purpose::synthetic}, 0};
  for (int width = 1; width <= 64; ++width)
    for (int i = 0; i < 20; ++i)
      numbers.push_back(((std::uint64_t{random()} << 32 | random()) | std::uint64_t{1} << 63) >> (64 - width));
  numbers.push_back(largest);
  return numbers;
}

// T11: codes are read back as they were written.
TEST(elias, reads_what_it_wrote) {
  const auto numbers = many_numbers();
  for (const auto& c : codes) {
    const auto bytes = written(c, numbers);
    bit_reader in(bytes, bits_of(c, numbers));
    for (auto n : numbers)
      ASSERT_EQ(c.take(in), n) << c.name;
    EXPECT_EQ(in.left(), 0u) << c.name;
  }
}

TEST(elias, has_the_published_lengths) {
  struct row {
    std::uint64_t n;
    int gamma, omega;
  };
  for (const auto& [n, gamma, omega] :
       {row{1, 1, 1}, {2, 3, 3}, {3, 3, 3}, {4, 5, 6}, {8, 7, 7}, {15, 7, 7}, {16, 9, 11}, {largest, 127, 76}}) {
    EXPECT_EQ(elias::gamma_bits(n), gamma) << n;
    EXPECT_EQ(elias::omega_bits(n), omega) << n;
  }
}

TEST(elias, sends_the_leading_one_and_then_the_least_significant_bits_first) {
  const auto& [gamma, omega] = codes;
  EXPECT_EQ(text_of(gamma, 1), "1");
  EXPECT_EQ(text_of(gamma, 6), "00101");
  EXPECT_EQ(text_of(omega, 1), "0");
  EXPECT_EQ(text_of(omega, 3), "110");
  EXPECT_EQ(text_of(omega, 6), "101010");
}

TEST(elias, refuses_streams_that_end_within_a_number) {
  for (const auto& c : codes)
    for (std::uint64_t n : {1u, 2u, 9u, 1000u, 70'000u}) {
      const auto bytes = written(c, {n});
      const auto length = static_cast<std::uint64_t>(c.bits(n));
      EXPECT_EQ(refusal(c, bytes, length), "accepted");
      for (std::uint64_t bits = 0; bits < length; ++bits)
        EXPECT_NE(refusal(c, bytes, bits), "accepted") << c.name << " of " << n << " cut to " << bits;
    }
}

TEST(elias, refuses_numbers_of_more_than_64_bits) {
  const auto& [gamma, omega] = codes;
  const std::vector<std::byte> zeros(20), ones(20, std::byte{0xFF});
  EXPECT_THAT(refusal(gamma, zeros, 160), HasSubstr("more zeros"));
  EXPECT_THAT(refusal(omega, ones, 160), HasSubstr("more than 64 bits"));
}

TEST(elias, survives_arbitrary_bytes) {
  random_sequence random{{2, 0, purpose::synthetic}, 0};
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<std::byte> bytes(random.below(24));
    for (auto& byte : bytes)
      byte = static_cast<std::byte>(random.below(3) == 0 ? 0 : random());
    for (const auto& c : codes) {
      bit_reader in(bytes, 8 * bytes.size());
      std::uint64_t read = 0;
      try {
        while (in.left() > 0) {
          const auto n = c.take(in);
          read += static_cast<std::uint64_t>(c.bits(n));
          ASSERT_EQ(read + in.left(), 8 * bytes.size()) << "every number has one code";
        }
      } catch (const error& e) {
        ASSERT_EQ(e.code(), errc::bad_packet);
      }
    }
  }
}

TEST(bit_stream, packs_numbers_of_any_width_without_gaps) {
  random_sequence random{{3, 0, purpose::synthetic}, 0};
  std::vector<std::pair<std::uint64_t, int>> numbers;
  std::uint64_t bits = 0;
  for (int i = 0; i < 2000; ++i) {
    const int width = static_cast<int>(random.below(65));
    const auto value = std::uint64_t{random()} << 32 | random();
    numbers.emplace_back(width == 0 ? 0 : value >> (64 - width), width);
    bits += static_cast<std::uint64_t>(width);
  }
  std::vector<std::byte> bytes((bits + 7) / 8);
  bit_writer out(bytes);
  for (const auto& [value, width] : numbers)
    out.put(value, width);
  out.finish();
  bit_reader in(bytes, bits);
  for (const auto& [value, width] : numbers)
    ASSERT_EQ(in.take(width), value);
  EXPECT_THROW(in.take(1), error);
}

} // namespace
} // namespace gossamer::compress
