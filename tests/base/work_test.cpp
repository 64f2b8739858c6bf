#include "gossamer/base/vec.hpp"
#include "gossamer/base/work.hpp"

#include <gtest/gtest.h>

namespace gossamer {
namespace {

struct ledger final : work_meter {
  void arithmetic(std::uint64_t n) override { bytes += n; }
  void drawing(std::uint64_t n) override { words += n; }
  void encoding(std::uint8_t, std::uint64_t n) override { encoded += n; }
  void decoding(std::uint8_t, std::uint64_t n) override { decoded += n; }
  std::uint64_t bytes = 0, words = 0, encoded = 0, decoded = 0;
};

struct work : testing::Test {
  buffer_pool pool;
  vec x{pool, 100}, y{pool, 100};
  ledger counted;
};

TEST_F(work, of_vectors_is_what_they_read_and_write) {
  const metered here{&counted};
  x += y;
  EXPECT_EQ(counted.bytes, 3u * 400);
  x -= 0.5f * y;
  EXPECT_EQ(counted.bytes, 6u * 400);
  x *= 2;
  EXPECT_EQ(counted.bytes, 8u * 400);
  const vec z = 3.0f * x;
  EXPECT_EQ(counted.bytes, 10u * 400);
  sum_of_squares(z.view());
  EXPECT_EQ(counted.bytes, 11u * 400);
}

TEST_F(work, does_not_depend_on_who_shares_the_storage) {
  const metered here{&counted};
  const vec shared = x;
  x += y;
  EXPECT_EQ(counted.bytes, 3u * 400);
}

TEST_F(work, is_counted_by_the_innermost_meter_while_it_lives) {
  x += y;
  {
    const metered here{&counted};
    {
      const metered unmetered{nullptr};
      x += y;
    }
    EXPECT_EQ(counted.bytes, 0u);
    count_encoding(2, 7);
    count_decoding(2, 8);
    count_drawing(9);
  }
  x += y;
  EXPECT_EQ(counted.bytes, 0u);
  EXPECT_EQ(counted.encoded, 7u);
  EXPECT_EQ(counted.decoded, 8u);
  EXPECT_EQ(counted.words, 9u);
}

} // namespace
} // namespace gossamer
