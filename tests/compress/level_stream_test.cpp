// Streams of levels, against a writer of single numbers.
#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/compress/detail/level_stream.hpp"
#include "gossamer/compress/elias.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace gossamer::compress::detail {
namespace {

using levels_of = std::vector<int>;

constexpr level_coding codings[] = {level_coding::sparse, level_coding::dense};

struct stream {
  std::vector<std::byte> bytes;
  std::uint64_t bits = 0;
};

/// Writes number by number, as the wire format says.
stream written_one_by_one(level_coding code, const levels_of& levels) {
  stream out{std::vector<std::byte>(8 * levels.size() + 8), 0};
  bit_writer writer(out.bytes);
  const auto put = [&](std::uint64_t n) {
    elias::put_omega(writer, n);
    out.bits += static_cast<std::uint64_t>(elias::omega_bits(n));
  };
  const auto put_sign = [&](int level) {
    writer.put(level < 0 ? 1 : 0, 1);
    ++out.bits;
  };
  std::uint64_t distance = 0;
  for (const int level : levels) {
    const auto magnitude = static_cast<std::uint64_t>(std::abs(level));
    ++distance;
    if (code == level_coding::dense) {
      put(magnitude + 1);
      if (level != 0)
        put_sign(level);
    } else if (level != 0) {
      put(distance);
      put_sign(level);
      put(magnitude);
      distance = 0;
    }
  }
  writer.finish();
  out.bytes.resize((out.bits + 7) / 8);
  return out;
}

/// Calls `action(first, count, codes)` for each block.
template <class Action>
void for_each_block(std::size_t size, Action action) {
  level_codes codes;
  for (std::size_t first = 0; first < size; first += level_block)
    action(first, std::min(level_block, size - first), codes);
}

template <class Level>
Level* codes_as(level_codes& codes) {
  return reinterpret_cast<Level*>(codes.bytes);
}

stream written(level_coding code, int s, const levels_of& levels) {
  stream out{std::vector<std::byte>(level_writer::most_bytes(code, levels.size(), s)), 0};
  level_writer writer{code, s, out.bytes.data()};
  for_each_block(levels.size(), [&](std::size_t first, std::size_t count, level_codes& codes) {
    for (std::size_t i = 0; i < count; ++i)
      if (level_code_bits(s) == 8)
        codes_as<std::int8_t>(codes)[i] = static_cast<std::int8_t>(levels[first + i]);
      else
        codes_as<std::int16_t>(codes)[i] = static_cast<std::int16_t>(levels[first + i]);
    writer.write(codes, count);
  });
  out.bits = writer.finish();
  out.bytes.resize((out.bits + 7) / 8);
  return out;
}

levels_of read(level_coding code, int s, const stream& in, std::size_t size) {
  levels_of levels(size);
  level_reader reader{code, {in.bytes, in.bits}, size, s};
  for_each_block(size, [&](std::size_t first, std::size_t count, level_codes& codes) {
    reader.read(first, count, codes);
    for (std::size_t i = 0; i < count; ++i)
      levels[first + i] = level_code_bits(s) == 8 ? codes_as<std::int8_t>(codes)[i] : codes_as<std::int16_t>(codes)[i];
  });
  reader.expect_end();
  return levels;
}

/// Returns levels of which `share` are not 0, and these are small, with some of the largest among them.
levels_of random_levels(std::size_t size, int s, double share) {
  levels_of levels(size);
  random_sequence random{{7, 0, purpose::synthetic}, size + static_cast<std::size_t>(s)};
  for (int& level : levels)
    if (random.uniform_double() < share) {
      const double magnitude = random.below(50) == 0 ? s : 1 - std::log(1 - random.uniform_double()) * 3;
      level = std::min(s, static_cast<int>(magnitude)) * (random.below(2) == 0 ? 1 : -1);
    }
  return levels;
}

TEST(level_stream, is_that_of_single_numbers) {
  for (const auto code : codings)
    for (int s : {1, 3, 13, 14, 15, 126, 127, 128, 1000, 32767})
      for (double share : {0.0, 0.0005, 0.01, 0.1, 0.3, 0.9, 1.0})
        for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 2047u, 2048u, 2049u, 10'000u}) {
          const auto levels = random_levels(size, s, share);
          const auto out = written(code, s, levels), expected = written_one_by_one(code, levels);
          ASSERT_EQ(out.bits, expected.bits) << s << " " << share << " " << size;
          ASSERT_EQ(out.bytes, expected.bytes) << s << " " << share << " " << size;
          ASSERT_EQ(read(code, s, out, size), levels) << s << " " << share << " " << size;
        }
}

TEST(level_stream, has_room_for_the_largest_levels_and_the_longest_gaps) {
  for (const auto code : codings)
    for (int s : {1, 126, 127, 128, 32767})
      for (std::size_t gap : {1u, 2u, 41u, 57u, 255u, 256u, 257u, 70'000u}) {
        levels_of levels(3 * gap);
        for (std::size_t i = 0; i < levels.size(); i += gap)
          levels[i] = i % 2 == 0 ? -s : s;
        const auto out = written(code, s, levels);
        EXPECT_LE(out.bytes.size(), level_writer::most_bytes(code, levels.size(), s));
        ASSERT_EQ(read(code, s, out, levels.size()), levels) << s << " " << gap;
      }
}

std::string refusal(level_coding code, int s, const stream& in, std::size_t size) {
  try {
    read(code, s, in, size);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

TEST(level_stream, refuses_levels_that_are_not_allowed_wherever_they_are) {
  for (const auto code : codings)
    for (int level : {3, 14, 15, 100, 127, 128, 5000})
      for (std::size_t at : {0u, 100u, 1990u, 2047u, 2048u, 2999u}) {
        levels_of levels(3000);
        levels[at] = -level;
        const auto out = written_one_by_one(code, levels);
        EXPECT_EQ(refusal(code, level, out, 3000), "accepted");
        EXPECT_EQ(refusal(code, level - 1, out, 3000),
                  "packet holds the level " + std::to_string(level) + "; allowed: up to " + std::to_string(level - 1));
      }
}

TEST(level_stream, refuses_streams_of_another_length) {
  const auto levels = random_levels(3000, 5, 0.2);
  for (const auto code : codings) {
    const auto whole = written(code, 5, levels);
    for (std::uint64_t bits = 0; bits < whole.bits; ++bits) {
      const stream cut{{whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>((bits + 7) / 8)}, bits};
      if (code == level_coding::dense) {
        ASSERT_NE(refusal(code, 5, cut, 3000), "accepted") << bits;
      } else {
        refusal(code, 5, cut, 3000); // it may end between two levels
      }
    }
    EXPECT_THAT(refusal(code, 5, whole, 2900), testing::AnyOf(testing::HasSubstr("behind its last"), "accepted"));
    auto longer = whole;
    longer.bytes.resize(longer.bytes.size() + 9);
    longer.bits += 70;
    EXPECT_NE(refusal(code, 5, longer, 3000), "accepted");
  }
}

TEST(level_stream, survives_arbitrary_bytes) {
  random_sequence random{{8, 0, purpose::synthetic}, 0};
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<std::byte> bytes(random.below(400));
    const auto often = random.below(5);
    for (auto& byte : bytes)
      byte = random.below(5) < often ? std::byte{0} : static_cast<std::byte>(random());
    const stream in{bytes, 8 * bytes.size()};
    for (const auto code : codings)
      for (int s : {1, 10, 127, 32767})
        refusal(code, s, in, 1 + random.below(4000));
  }
}

} // namespace
} // namespace gossamer::compress::detail
