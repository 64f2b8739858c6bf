#include "gossamer/base/varint.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace gossamer {
namespace {

std::optional<std::uint64_t> taken(std::vector<std::byte> bytes) {
  std::span<const std::byte> rest = bytes;
  return take_varint(rest);
}

TEST(varint, is_taken_as_it_was_put_in_seven_bits_a_byte) {
  for (int shift = 0; shift < 64; ++shift)
    for (const std::uint64_t n : {(std::uint64_t{1} << shift) - 1, std::uint64_t{1} << shift}) {
      std::array<std::byte, 12> bytes{};
      const auto end = put_varint(bytes.data(), n);
      ASSERT_EQ(static_cast<std::size_t>(end - bytes.data()), varint_bytes(n));
      std::span<const std::byte> rest = bytes;
      EXPECT_EQ(take_varint(rest), n);
      EXPECT_EQ(rest.data(), end);
    }
  EXPECT_EQ(varint_bytes(0), 1u);
  EXPECT_EQ(varint_bytes(127), 1u);
  EXPECT_EQ(varint_bytes(128), 2u);
  EXPECT_EQ(varint_bytes(1u << 14), 3u);
  EXPECT_EQ(varint_bytes(std::numeric_limits<std::uint64_t>::max()), 10u);
}

TEST(varint, is_refused_when_it_is_cut_too_long_or_has_a_shorter_form) {
  constexpr std::byte more{0x80}, zero{0}, all{0xff};
  EXPECT_EQ(taken({}), std::nullopt);
  EXPECT_EQ(taken({more}), std::nullopt);
  EXPECT_EQ(taken({more, zero}), std::nullopt) << "0 in two bytes";
  EXPECT_EQ(taken({more, std::byte{1}}), 128u);
  std::vector<std::byte> most(9, all);
  most.push_back(std::byte{1});
  EXPECT_EQ(taken(most), std::numeric_limits<std::uint64_t>::max());
  most.back() = std::byte{2};
  EXPECT_EQ(taken(most), std::nullopt) << "65 bits";
  EXPECT_EQ(taken(std::vector<std::byte>(11, more)), std::nullopt);
}

} // namespace
} // namespace gossamer
