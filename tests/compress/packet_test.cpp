#include "gossamer/base/error.hpp"
#include "gossamer/base/varint.hpp"
#include "gossamer/compress/packet.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "support/packets.hpp"

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

packet example(buffer_pool& pool, std::uint64_t bits) {
  packet p{.codec = 2, .parameter = 3, .elements = 4, .bits = bits, .payload = pool.allocate(whole_bytes(bits))};
  for (std::size_t i = 0; i < p.payload.size(); ++i)
    p.payload.data()[i] = static_cast<std::byte>(i + 1);
  if (bits % 8 != 0)
    p.payload.data()[p.payload.size() - 1] = std::byte{1};
  return p;
}

std::vector<std::byte> written(std::uint64_t bits) {
  buffer_pool pool;
  const auto bytes = write(example(pool, bits));
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

/// Returns the sentence with which `read` refuses.
std::string refusal(std::span<const std::byte> bytes, std::uint64_t most_elements = packet_most_elements) {
  buffer_pool pool;
  try {
    read(pool, bytes, most_elements);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    EXPECT_EQ(pool.blocks_created(), 0u) << "memory for a packet that is refused";
    return e.sentence();
  }
  return "accepted";
}

TEST(packet, reads_what_it_wrote) {
  for (std::uint64_t bits : {0u, 1u, 7u, 8u, 9u, 64u, 1001u}) {
    buffer_pool pool;
    const auto p = example(pool, bits);
    const auto bytes = write(p);
    EXPECT_EQ(bytes.size(), p.wire_bytes());
    const auto q = read(pool, bytes.bytes());
    EXPECT_EQ(q.codec, p.codec);
    EXPECT_EQ(q.parameter, p.parameter);
    EXPECT_EQ(q.elements, p.elements);
    EXPECT_EQ(q.bits, p.bits);
    EXPECT_TRUE(std::ranges::equal(q.payload.bytes(), p.payload.bytes()));
  }
}

TEST(packet, names_each_fault) {
  const auto good = written(20); // 8 bytes, one byte each for elements and bits, payload
  const auto with = [&](std::size_t at, int value) {
    auto bytes = good;
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
  };
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_EQ(refusal({}), "packet of 0 bytes is shorter than its header of at least 10");
  EXPECT_EQ(refusal(std::span{good}.first(7)), "packet of 7 bytes is shorter than its header of at least 10");
  for (const std::size_t size : {8u, 9u})
    EXPECT_EQ(refusal(std::span{good}.first(size)), "packet has no proper number of elements and bits in its header");
  EXPECT_EQ(refusal(with(0, 1)), "packet has version 1, this program reads version 2");
  EXPECT_EQ(refusal(with(3, 9)), "packet is cut short: its recipe has 9 words, 3 bytes are there");
  EXPECT_EQ(refusal(std::span{good}.first(12)), "packet is cut short: 20 bits need a payload of 3 bytes, 2 are there");
  EXPECT_EQ(refusal(with(9, 8)), "2 bytes follow the payload of a packet");
  EXPECT_EQ(refusal(good, 3), "packet has 4 elements, more than the 3 allowed");
  for (const std::size_t at : {1u, 2u, 4u, 7u, 8u, 10u, 12u})
    EXPECT_EQ(refusal(with(at, 0x07)), "packet has a wrong checksum") << "byte " << at;
  EXPECT_EQ(refusal(test::resealed(with(12, 0x10))), "packet has bits set behind its last bit");
}

TEST(packet, refuses_sizes_that_overflow) {
  const auto with = [good = written(20)](std::uint64_t elements, std::uint64_t bits) {
    std::vector<std::byte> bytes(8 + varint_bytes(elements) + varint_bytes(bits) + 3);
    std::copy_n(good.begin(), 8, bytes.begin());
    std::copy_n(good.end() - 3, 3, put_varint(put_varint(bytes.data() + 8, elements), bits));
    return test::resealed(bytes);
  };
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t bits : {most, std::uint64_t{1} << 63, std::uint64_t{1} << 40})
    EXPECT_THAT(refusal(with(4, bits)), HasSubstr("cut short"));
  EXPECT_THAT(refusal(with(most, 20)), HasSubstr("more than the"));
  EXPECT_EQ(refusal(with(4, 20)), "accepted");
}

TEST(packet, notices_every_flipped_bit) {
  const auto good = written(100);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    ASSERT_NE(refusal(bytes), "accepted") << "bit " << bit;
  }
}

} // namespace
} // namespace gossamer::compress
