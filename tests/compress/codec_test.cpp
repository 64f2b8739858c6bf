#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <tuple>

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{1, 0, purpose::quantise};

/// Returns the message of the errc::bad_packet that decoding must throw.
template <class Decode>
std::string refusal(Decode decode_it) {
  try {
    decode_it();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

std::string refusal(const packet& p) {
  return refusal([&] { std::ignore = decode(p); });
}

packet uniform_packet(buffer_pool& pool, int bits, std::uint64_t elements, float scale) {
  const auto size = 32 + static_cast<std::uint64_t>(bits) * elements;
  packet p{.codec = 2,
           .parameter = static_cast<std::uint8_t>(bits),
           .elements = elements,
           .bits = size,
           .payload = pool.allocate(whole_bytes(size))};
  std::memset(p.payload.data(), 0, p.payload.size());
  std::memcpy(p.payload.data(), &scale, sizeof scale);
  return p;
}

TEST(codecs, have_distinct_names_and_wire_numbers) {
  std::set<std::string> names;
  std::set<int> numbers;
  for (const auto& entry : codecs()) {
    EXPECT_TRUE(names.insert(entry.about.name).second);
    EXPECT_TRUE(numbers.insert(entry.wire_number).second);
    EXPECT_NE(entry.wire_number, 0);
  }
}

TEST(codecs, are_made_from_a_spec) {
  EXPECT_EQ(make_codec("uniform")->bits(100), 32u + 800u);
  EXPECT_EQ(make_codec("uniform:bits=3")->bits(100), 32u + 300u);
  EXPECT_EQ(make_codec("identity")->bits(100), 3200u);
  EXPECT_THROW(std::ignore = make_codec("uniform:bits=17"), error);
  EXPECT_THROW(std::ignore = make_codec("uniform:bits=0"), error);
  EXPECT_THROW(std::ignore = make_codec("unifrom"), error);
}

TEST(identity, copies_nothing_either_way) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>{1, -2, 3}};
  const auto p = make_codec("identity")->encode(v, randomness, 0);
  EXPECT_TRUE(p.payload.shares_with(v.storage()));
  EXPECT_TRUE(decode(p).storage().shares_with(v.storage()));
  EXPECT_EQ(pool.blocks_created(), 1u);
}

TEST(codec, names_the_first_element_that_is_not_finite) {
  buffer_pool pool;
  for (const char* name : {"identity", "uniform"})
    for (float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
      std::vector<float> values(100, 1.0f);
      values[99] = values[41] = bad;
      try {
        std::ignore = make_codec(name)->encode(vec{pool, values}, randomness, 0);
        ADD_FAILURE() << "no error";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::diverged);
        EXPECT_THAT(e.sentence(), HasSubstr("element 41 of a vector of 100 is "));
      }
    }
}

TEST(decode, refuses_what_contradicts_itself) {
  buffer_pool pool;
  const auto good = uniform_packet(pool, 3, 5, 0.5f);
  EXPECT_EQ(refusal(good), "accepted");
  const auto with = [&](auto change) {
    auto p = good;
    change(p);
    return refusal(p);
  };
  EXPECT_EQ(with([](packet& p) { p.codec = 200; }), "packet of unknown codec 200");
  EXPECT_EQ(with([](packet& p) { p.parameter = 0; }), "packet of codec uniform has codes of 0 bits; allowed: 1 to 16");
  EXPECT_EQ(with([](packet& p) { p.parameter = 17; }),
            "packet of codec uniform has codes of 17 bits; allowed: 1 to 16");
  EXPECT_EQ(with([](packet& p) { p.elements = 6; }),
            "packet of codec 2 with 6 elements carries 47 bits where the codec writes 50");
  EXPECT_THAT(with([](packet& p) { p.elements = ~std::uint64_t{0}; }), HasSubstr("elements; allowed: "));
  EXPECT_EQ(with([](packet& p) { p.payload.truncate(5); }),
            "packet with 47 bits has a payload of 5 bytes instead of 6");
  EXPECT_THAT(with([](packet& p) { p.payload.truncate(3); }), HasSubstr("too few for its scale"));

  packet identity{.codec = 1, .parameter = 0, .elements = 2, .bits = 64, .payload = pool.allocate(8)};
  EXPECT_EQ(refusal(identity), "accepted");
  identity.elements = std::uint64_t{1} << 59; // times 32 is 0
  identity.bits = 0;
  EXPECT_THAT(refusal(identity), HasSubstr("more elements than"));
}

TEST(decode, refuses_scales_that_no_encoder_sends) {
  buffer_pool pool;
  const auto infinity = std::numeric_limits<float>::infinity();
  for (float scale : {-1.0f, -0.0f, infinity, -infinity, std::nanf(""), 0x1p-127f})
    EXPECT_THAT(refusal(uniform_packet(pool, 3, 5, scale)), HasSubstr("it must be 0 or a positive normal")) << scale;
  EXPECT_THAT(refusal(uniform_packet(pool, 3, 5, 0)), HasSubstr("carries 47 bits where the codec writes 32"));
  auto short_one = uniform_packet(pool, 3, 0, 0.5f);
  short_one.elements = 5;
  EXPECT_THAT(refusal(short_one), HasSubstr("carries 32 bits where the codec writes 47"));
}

TEST(decode, refuses_levels_that_overflow) {
  buffer_pool pool;
  auto p = uniform_packet(pool, 8, 4, std::numeric_limits<float>::max());
  EXPECT_EQ(refusal(p), "accepted");
  p.payload.data()[5] = std::byte{2};
  EXPECT_THAT(refusal(p), HasSubstr("beyond the largest float"));
}

} // namespace
} // namespace gossamer::compress
