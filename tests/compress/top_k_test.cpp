#include "gossamer/compress/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace gossamer::compress {
namespace {

const random_stream randomness{5, 2, purpose::sparse};

/// Returns the definition's result, by sorting.
vec kept(buffer_pool& pool, const vec& v, std::size_t k) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater{}, [&](auto i) { return std::fabs(v[i]); });
  vec result{pool, v.size()};
  for (std::size_t j = 0; j < std::min(k, v.size()); ++j)
    result.mutate()[order[j]] = v[order[j]];
  return result;
}

void expect_definition(const vec& v, std::size_t k) {
  buffer_pool pool;
  const auto codec = make_codec("top-k:k=" + std::to_string(k));
  const auto p = codec->encode(v, randomness, 0);
  EXPECT_EQ(p.bits, codec->bits(v.size()));
  EXPECT_EQ(decode(p), kept(pool, v, k)) << k << " of " << v.size();
}

vec normal_vector(buffer_pool& pool, std::size_t size) {
  vec v{pool, size};
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = static_cast<float>(random.normal());
  return v;
}

TEST(top_k, keeps_what_sorting_would_keep) {
  buffer_pool pool;
  for (std::size_t size : {0u, 1u, 2u, 3u, 31u, 32u, 33u, 1000u, 20000u})
    for (std::size_t k : {1u, 2u, 3u, 17u, 32u, 200u, 999u, 1000u, 100000u})
      expect_definition(normal_vector(pool, size), k);
}

TEST(top_k, keeps_the_first_among_equals) {
  buffer_pool pool;
  for (std::uint32_t distinct : {1u, 2u, 5u}) {
    vec v{pool, 777};
    random_sequence random{{distinct, 0, purpose::synthetic}, 0};
    for (float& x : v.overwrite())
      x = (random.below(2) == 0 ? -1.0f : 1.0f) * static_cast<float>(random.below(distinct));
    for (std::size_t k : {1u, 10u, 100u, 500u, 776u, 777u})
      expect_definition(v, k);
  }
}

// Neighbouring floats of all octaves are never mistaken for each other.
TEST(top_k, tells_neighbouring_floats_apart) {
  buffer_pool pool;
  vec v{pool, 600};
  random_sequence random{{3, 0, purpose::synthetic}, 0};
  for (float& x : v.overwrite())
    x = std::bit_cast<float>((0x3F800000u - 8 + random.below(16)) | random.below(2) << 31);
  for (std::size_t k = 1; k <= 600; k += 7)
    expect_definition(v, k);
  for (float& x : v.overwrite())
    x = std::bit_cast<float>(random() % 0x7F800000u | random() << 31);
  for (std::size_t k = 1; k <= 600; k += 7)
    expect_definition(v, k);
}

TEST(top_k, keeps_the_ends_of_the_range) {
  buffer_pool pool;
  const auto largest = std::numeric_limits<float>::max(), smallest = std::numeric_limits<float>::denorm_min();
  const vec v{pool, std::vector<float>{smallest, 0, -largest, -0.0f, -smallest, largest}};
  for (std::size_t k = 1; k <= 6; ++k)
    expect_definition(v, k);
}

// T10: the error stays below the relative error.
TEST(top_k, loses_no_more_than_its_share) {
  buffer_pool pool;
  for (const char* name : {"top-k", "top-k:fraction=0.3", "top-k:k=7"}) {
    const auto codec = make_codec(name);
    const vec v = normal_vector(pool, 1000);
    EXPECT_LT(squared_distance(decode(codec->encode(v, randomness, 0)).view(), v.view()),
              codec->relative_error(1000) * sum_of_squares(v.view()));
    const vec constant{pool, std::vector<float>(1000, -2.0f)};
    EXPECT_NEAR(squared_distance(decode(codec->encode(constant, randomness, 0)).view(), constant.view()),
                codec->relative_error(1000) * sum_of_squares(constant.view()), 1e-9);
  }
}

TEST(top_k, keeps_as_many_as_it_says) {
  for (std::size_t size : {1u, 2u, 3u, 1024u, 1025u})
    for (const auto& [name, k] : {std::pair{"top-k:fraction=0.5", (size + 1) / 2}, std::pair{"top-k:fraction=1", size},
                                  std::pair{"top-k:fraction=0.000001", std::size_t{1}}})
      EXPECT_EQ(make_codec(name)->bits(size), k * (32 + static_cast<std::size_t>(std::ceil(std::log2(size))))) << size;
  EXPECT_EQ(make_codec("top-k")->bits(0), 0u);
  EXPECT_THROW(std::ignore = make_codec("top-k:fraction=0"), error);
  EXPECT_THROW(std::ignore = make_codec("top-k:k=-1"), error);
}

} // namespace
} // namespace gossamer::compress
