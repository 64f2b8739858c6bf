// Codecs `sign` and `scaled-sign` against their definitions in docs/wire-format.md.
#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{5, 2, purpose::quantise};
constexpr std::size_t sizes[] = {1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 1000};

vec random_vector(buffer_pool& pool, std::size_t size, float scale = 1) {
  vec v{pool, size};
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = scale * (2 * random.uniform() - 1);
  return v;
}

packet encode(const char* name, const vec& v) { return make_codec(name)->encode(v, randomness, 0); }

std::string refusal(const packet& p) {
  try {
    std::ignore = decode(p);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

TEST(sign, decodes_to_one_and_minus_one) {
  buffer_pool pool;
  for (auto size : sizes) {
    auto v = random_vector(pool, size);
    v.mutate()[0] = -0.0f;
    v.mutate()[size - 1] = 0.0f;
    const auto p = encode("sign", v);
    EXPECT_EQ(p.bits, size);
    const auto decoded = decode(p);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(decoded[i], v[i] >= 0 ? 1.0f : -1.0f) << i << " of " << size;
  }
  EXPECT_EQ(encode("sign", vec{pool, 0}).bits, 0u);
}

TEST(sign, claims_no_bound_on_its_error) {
  EXPECT_TRUE(std::isinf(make_codec("sign")->relative_error(10)));
  EXPECT_TRUE(make_codec("sign")->can().deterministic);
}

TEST(sign, refuses_packets_of_another_size) {
  buffer_pool pool;
  auto p = encode("sign", random_vector(pool, 33));
  EXPECT_EQ(refusal(p), "accepted");
  p.elements = 34;
  EXPECT_EQ(refusal(p), "packet of codec 13 with 34 elements carries 33 bits where the codec writes 34");
  p.elements = ~std::uint64_t{0};
  EXPECT_THAT(refusal(p), HasSubstr("carries 33 bits"));
}

// T10: the error is an equality, not a bound.
TEST(scaled_sign, has_the_error_of_its_formula) {
  buffer_pool pool;
  for (auto size : sizes)
    for (float scale : {1e-20f, 1.0f, 1e15f}) {
      auto v = random_vector(pool, size, scale);
      v.mutate()[size / 2] = 0;
      if (size == 1)
        v.mutate()[0] = -scale;
      const double sum = sum_of_magnitudes(v.view()), square = sum_of_squares(v.view());
      const double delta = sum * sum / (static_cast<double>(size) * square);
      const auto decoded = decode(encode("scaled-sign", v));
      EXPECT_NEAR(squared_distance(decoded.view(), v.view()) / square, 1 - delta, 1e-6) << size;
      EXPECT_LE(1 - delta, make_codec("scaled-sign")->relative_error(size) + 1e-12);
    }
}

TEST(scaled_sign, is_the_mean_magnitude_with_the_signs_in_32_plus_d_bits) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>{1.0f, -3.0f, 0.0f, -0.0f, 4.0f}};
  const auto p = encode("scaled-sign", v);
  EXPECT_EQ(p.bits, 37u);
  EXPECT_EQ(decode(p), (vec{pool, std::vector<float>{1.6f, -1.6f, 1.6f, 1.6f, 1.6f}}));
}

TEST(scaled_sign, sends_zero_and_what_is_too_small_in_no_bits) {
  buffer_pool pool;
  std::vector<float> tiny(100);
  EXPECT_EQ(encode("scaled-sign", vec{pool, tiny}).bits, 0u);
  tiny[3] = -std::numeric_limits<float>::denorm_min();
  const auto p = encode("scaled-sign", vec{pool, tiny});
  EXPECT_EQ(p.bits, 0u);
  EXPECT_EQ(decode(p), (vec{pool, 100}));
  std::ranges::fill(tiny, -std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(decode(encode("scaled-sign", vec{pool, tiny})), (vec{pool, tiny}));
}

TEST(scaled_sign, does_not_overflow) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>(1000, -std::numeric_limits<float>::max())};
  EXPECT_EQ(decode(encode("scaled-sign", v)), v);
}

TEST(scaled_sign, refuses_scales_that_no_encoder_sends) {
  buffer_pool pool;
  const auto infinity = std::numeric_limits<float>::infinity();
  auto p = encode("scaled-sign", random_vector(pool, 33));
  EXPECT_EQ(refusal(p), "accepted");
  for (float scale : {0.0f, -0.0f, -1.0f, infinity, -infinity, std::nanf("")}) {
    std::memcpy(p.payload.data(), &scale, sizeof scale);
    EXPECT_THAT(refusal(p), HasSubstr("it must be positive and finite")) << scale;
  }
  p.elements = ~std::uint64_t{0};
  EXPECT_THAT(refusal(p), HasSubstr("elements; allowed: "));
  packet empty{.codec = 14, .elements = 1000, .payload = pool.allocate(0)};
  EXPECT_EQ(refusal(empty), "accepted");
  empty.bits = 32;
  EXPECT_THAT(refusal(empty), HasSubstr("carries 32 bits where the codec writes 1032"));
}

} // namespace
} // namespace gossamer::compress
