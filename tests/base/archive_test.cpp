#include "gossamer/base/archive.hpp"
#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

namespace gossamer {
namespace {

struct state {
  vec x;
  std::uint64_t t = 0;
  double power = 1;

  void fields(archive& a) { a(x)(t)(power); }
};

std::vector<std::byte> bytes_of(state s) {
  archive_writer out;
  s.fields(out);
  return out.bytes();
}

TEST(archive, reads_back_what_it_wrote) {
  buffer_pool pool;
  for (const std::size_t size : {0u, 1u, 33u}) {
    state written{vec{pool, size}, 7, 0.25};
    for (auto& value : written.x.mutate())
      value = -1.5f;
    const auto bytes = bytes_of(written);
    EXPECT_EQ(bytes.size(), 3 * 8 + 4 * size);
    state read;
    archive_reader in{bytes, pool};
    read.fields(in);
    EXPECT_NO_THROW(in.finish());
    EXPECT_EQ(read.x, written.x);
    EXPECT_EQ(read.t, 7u);
    EXPECT_EQ(read.power, 0.25);
  }
}

TEST(archive, refuses_bytes_that_are_cut_short_or_too_many_at_every_length) {
  buffer_pool pool;
  auto bytes = bytes_of({vec{pool, 5}, 1, 2});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    state read;
    archive_reader in{std::span{bytes}.first(size), pool};
    EXPECT_THROW(read.fields(in), error) << size;
  }
  bytes.push_back({});
  state read;
  archive_reader in{bytes, pool};
  read.fields(in);
  EXPECT_THROW(in.finish(), error);
}

TEST(archive, allocates_nothing_for_a_vector_that_the_bytes_cannot_hold) {
  buffer_pool pool;
  std::vector<std::byte> bytes(16, std::byte{0xff}); // 2^64 - 1 elements
  state read;
  archive_reader in{bytes, pool};
  EXPECT_THROW(read.fields(in), error);
}

} // namespace
} // namespace gossamer
