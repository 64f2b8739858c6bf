// The deterministic sibling of tests/fuzz/packet_fuzz.cpp: seeded damage to valid packets.
#include "gossamer/base/philox.hpp"

#include <gtest/gtest.h>

#include "support/packets.hpp"

namespace gossamer::compress {
namespace {

std::vector<std::vector<std::byte>> valid_packets() {
  buffer_pool pool;
  std::vector<std::vector<std::byte>> result;
  for (const auto& entry : codecs())
    for (const auto& example : entry.examples)
      for (std::size_t size : {0u, 1u, 33u}) {
        vec v{pool, size};
        random_sequence random{{size, 0, purpose::synthetic}, 0};
        for (float& x : v.overwrite())
          x = random.uniform() - 0.5f;
        const auto bytes = write(make_codec(example)->encode(v, {1, 0, purpose::quantise}, 0));
        result.emplace_back(bytes.bytes().begin(), bytes.bytes().end());
      }
  return result;
}

/// Does one damage of a kind that a link, a bug or an attacker could do.
void damage(std::vector<std::byte>& bytes, random_sequence& random) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const auto at = size == 0 ? 0 : random.below(size);
  switch (size == 0 ? 1 : random.below(6)) {
  case 0:
    bytes[at] ^= static_cast<std::byte>(1u << random.below(8));
    break;
  case 1:
    bytes.insert(bytes.begin() + at, random.below(4), static_cast<std::byte>(random()));
    break;
  case 2:
    bytes.resize(at);
    break;
  case 3:
    bytes[at] = static_cast<std::byte>(random());
    break;
  case 4:
    bytes[at] = random.below(2) == 0 ? std::byte{0} : std::byte{0xFF};
    break;
  default:
    bytes[random.below(std::min(size, 24u))] = static_cast<std::byte>(random.below(20));
    break;
  }
}

TEST(damaged_packet, is_refused_or_consistent) {
  const auto packets = valid_packets();
  for (const auto& bytes : packets)
    ASSERT_TRUE(test::survives(bytes));
  random_sequence random{{11, 0, purpose::synthetic}, 0};
  int accepted = 0;
  for (int i = 0; i < 60'000; ++i) {
    auto bytes = packets[random.below(static_cast<std::uint32_t>(packets.size()))];
    for (auto times = 1 + random.below(3); times-- > 0;)
      damage(bytes, random);
    test::survives(bytes);
    accepted += test::survives(test::resealed(bytes));
  }
  EXPECT_GT(accepted, 1000) << "the damage is so great that it never gets past the header";
}

TEST(damaged_packet, is_refused_wherever_it_is_cut) {
  for (const auto& bytes : valid_packets())
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_FALSE(test::survives(std::span{bytes}.first(size)));
      ASSERT_FALSE(test::survives(test::resealed({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)})));
    }
}

} // namespace
} // namespace gossamer::compress
